# SPDX-License-Identifier: BSD-3-Clause
"""What ctran_sim finds: the time of every algorithm that fits, at each place and on each cluster.

A place is what a table can tell apart. The cluster file says what the ranks run on; of its hosts
the first are taken, and of a host's ranks as many as are asked for, each of them with what the file
gives a rank.
"""
import json
import re
import tempfile
from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path

import libraries
import tables
from libraries import Trouble

# Where a choice is made. bytes: as a table counts them, and as they were asked for.
Place = namedtuple("Place", "collective nodes local bytes")

# A run is given up that takes so many times as long as another: what it costs beside the best is
# not known then, and counts as LOST.
WITHIN, LOST = 4, 64
MOST_TEXT = 1 << 20


def ranks_of(place):
    return place.nodes * place.local


class Cluster:
    """A file for ctran_sim, and how many hosts and ranks a host it has."""

    def __init__(self, sim, path):
        self.sim, self.path = sim, path
        self.name = Path(path).name
        try:
            with open(path, encoding="utf-8") as f:
                self.text = f.read(MOST_TEXT + 1)
        except OSError as error:
            raise Trouble(f"{path}: {error.strerror}") from error
        except UnicodeDecodeError as error:
            raise Trouble(f"{path}: it is no text") from error
        if len(self.text) > MOST_TEXT:
            raise Trouble(f"{path}: more than {MOST_TEXT} characters")
        known = self.run(path, "barrier", 1, [0])  # says what is wrong with it, and where
        self.hosts = known["hosts"]
        self.local = known["cluster_ranks"] // self.hosts
        if not re.search(r"^\s*cluster\b", self.text, re.M):
            raise Trouble(f'{path}: no line "cluster", which says how many hosts there are')

    def run(self, path, collective, ranks, blocks, limit=60):
        sizes = ",".join(map(str, dict.fromkeys(blocks)))
        command = [self.sim, "--json", "--coll", collective, "--ranks", str(ranks), "--bytes",
                   sizes, "--within", str(WITHIN), "--cluster", str(path)]
        what = f"{collective} on {ranks} ranks of {self.name}"
        return json.loads(libraries.run(command, what, limit))

    def of(self, local):
        """Its text with so many ranks on a host."""
        def changed(line):
            line = line.partition("#")[0]
            if line.split()[:1] != ["cluster"]:
                return line
            return re.sub(r"\bgpus=[0-9]+", "", line).rstrip() + f" gpus={local}"
        return "\n".join(map(changed, self.text.split("\n"))) + "\n"


def blocks_of(collective, ranks, sizes):
    """Size -> what ctran_sim shall be asked for: the vector, or a block where each rank has one. A
    size that so many blocks do not come near has none."""
    if collective == "barrier":
        return {0: 0}
    if not tables.COLLECTIVES[collective]:
        return {s: s for s in sizes}
    return {s: s // ranks for s in sizes if s // ranks * ranks * 4 >= s * 3}


class Simulation:
    """Of all clusters, at all places."""

    def __init__(self, clusters, limit, jobs, progress):
        self.clusters, self.limit, self.jobs, self.progress = clusters, limit, jobs, progress

    def one(self, folder, part):
        """(place, cluster, algorithm, us) of the runs of a collective on so many ranks."""
        k, collective, nodes, local, sizes = part
        cluster, ranks = self.clusters[k], nodes * local
        blocks = blocks_of(collective, ranks, sizes)
        if not blocks:
            return []
        path = folder / f"{k}.{local}.cluster"
        tree = cluster.run(path, collective, ranks, blocks.values(), self.limit)
        return [(Place(collective, nodes, local, size), k, r["algorithm"], r["time_us"])
                for r in tree["runs"] for size, block in blocks.items() if block == r["bytes"]]

    def times(self, collectives, hosts, locals_, sizes):
        """place -> algorithm -> us, one for each cluster, of the algorithms that fit on all."""
        parts = [(k, c, n, l, sizes)
                 for n, l, k, c in product(hosts, locals_, range(len(self.clusters)), collectives)
                 if n * l > 1]
        found = {}
        with tempfile.TemporaryDirectory(prefix="ctran_sim_tune.") as name:
            folder = Path(name)
            for k, l in product(range(len(self.clusters)), locals_):
                (folder / f"{k}.{l}.cluster").write_text(self.clusters[k].of(l), encoding="utf-8")
            with ThreadPoolExecutor(self.jobs) as pool:
                # The largest first: they take longest.
                done = pool.map(lambda part: self.one(folder, part), reversed(parts))
                try:
                    for count, some in enumerate(done, 1):
                        for place, k, algorithm, us in some:
                            found.setdefault(place, {}).setdefault(algorithm, {})[k] = us
                        self.progress(count, len(parts))
                except BaseException:
                    pool.shutdown(cancel_futures=True)
                    raise
        return {place: by for place, by in sorted(found.items())}


def common(times, clusters):
    """Without algorithms of a collective that fit at a place on some of the clusters only: no row
    could say so."""
    uneven = {(p.collective, a) for p, by in times.items() for a, us in by.items()
              if len(us) < clusters}
    return {p: {a: [us[k] for k in range(clusters)] for a, us in sorted(by.items())
                if (p.collective, a) not in uneven} for p, by in times.items()}
