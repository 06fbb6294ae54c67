"""`python -m agents`: every agent with its options, a line each."""

from agents.registry import AGENTS, options_of


def main() -> None:
    """Print the list."""
    specs = {name: ":".join([name, ",".join(options_of(name))]).rstrip(":") for name in AGENTS}
    width = max(map(len, specs.values()))
    for name, spec in specs.items():
        print(f"{spec:<{width}}  {AGENTS[name].line}")
    print(f"{'module:Class':<{width}}  an agent of your own, options as module:Class:key=value")
    print(f"{'runs/NAME':<{width}}  the newest checkpoint of a training run, the same as neural:path=runs/NAME")


if __name__ == "__main__":
    main()
