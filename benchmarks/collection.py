"""How fast a collection is simulated, against the target.

Run with `make bench-collection` or `python benchmarks/collection.py`.
"""

import time

from chaos_utils.collection.annotators import mixture
from chaos_utils.collection.materials import cut
from chaos_utils.collection.protocol import load_protocol
from chaos_utils.collection.simulate import simulate
from chaos_utils.datasets.loading import load_all_votes


def main() -> None:
    """Measure and print a table."""
    protocol, population, all_votes = load_protocol(), mixture(), load_all_votes()
    of_datasets = [cut(votes, all_votes, len(votes)) for votes in all_votes]
    begun = time.perf_counter()
    made = [simulate(protocol, materials, population) for materials in of_datasets]
    took = time.perf_counter() - begun
    n_votes = sum(int(one.counts.sum()) for one in made)
    print("| what | measured | target |")
    print("| --- | --- | --- |")
    print(f"| {n_votes:,} votes through the whole protocol | {took:.1f} s | 20 s |")


if __name__ == "__main__":
    main()
