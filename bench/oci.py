"""Sync of 400 items from a container registry on this machine, beside a raw transfer of the same content.

`bench/oci.py --brief BRIEF [--items 400] [--rounds 7]` starts Debian's `docker-registry` on loopback, publishes as many skills, and measures in turn
`brief sync --frozen` with an empty cache and `curl` fetching the same manifests and layers over the same number of connections into files. It prints one
line: the medians, their ratio, and the ratio of the best rounds. Needs docker-registry and curl.
"""
import argparse
import json
import os
import shutil
import socket
import statistics
import subprocess
import tempfile
import time
import urllib.request

# As many as `brief` opens.
CONNECTIONS = 8
SENTENCE = "Keep handlers thin, and validate all input before it is written to the store.\n"
TYPES = "application/vnd.oci.image.manifest.v1+json, application/vnd.oci.image.index.v1+json"


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def start_registry(work):
    port = free_port()
    config = os.path.join(work, "config.yml")
    with open(config, "w") as file:
        file.write(f"version: 0.1\nlog: {{level: error, accesslog: {{disabled: true}}}}\nstorage: {{filesystem: {{rootdirectory: {work}/store}}}}\n"
                   f"http: {{addr: 127.0.0.1:{port}}}\n")
    process = subprocess.Popen(["docker-registry", "serve", config], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(200):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return process, port
        except OSError:
            time.sleep(0.05)
    raise SystemExit("docker-registry does not start")


def fetch(url):
    request = urllib.request.Request(url, headers={"accept": TYPES})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--brief", required=True)
    parser.add_argument("--items", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=7)
    args = parser.parse_args()
    brief = os.path.abspath(args.brief)
    work = tempfile.mkdtemp(prefix="brief-oci-")
    registry, port = start_registry(work)
    try:
        measure(args, brief, work, port)
    finally:
        registry.kill()
        registry.wait()
        shutil.rmtree(work)


def measure(args, brief, work, port):
    source, project, home = (os.path.join(work, name) for name in ["source", "project", "home"])
    for number in range(args.items):
        directory = os.path.join(source, "skills", f"skill-{number}")
        os.makedirs(directory)
        with open(os.path.join(directory, "SKILL.md"), "w") as file:
            file.write(f"---\nname: skill-{number}\ndescription: Use when number {number} matters\n---\n\n" + SENTENCE * 100 + f"Number {number}.\n")
    os.makedirs(project)
    environment = {"HOME": home, "PATH": os.environ["PATH"], "NO_COLOR": "1"}

    def run(*words):
        subprocess.run([brief, *words], cwd=project, env=environment, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    address = f"127.0.0.1:{port}/acme/guidance"
    run("publish", f"oci://{address}:v1.0.0", "--from", source)
    run("add", f"oci://{address}:v1.0.0", "--client", "claude")

    base = f"http://127.0.0.1:{port}/v2/acme/guidance"
    index = fetch(f"{base}/manifests/v1.0.0")
    manifests = [f"{base}/manifests/{one['digest']}" for one in index["manifests"]]
    layers = {f"{base}/blobs/{layer['digest']}" for url in manifests for layer in fetch(url)["layers"]}
    lists = []
    # The digests of layers are known when the manifests are there, so these are two transfers.
    for name, urls in [("manifests", [f"{base}/manifests/v1.0.0", *manifests]), ("layers", sorted(layers))]:
        lists.append(os.path.join(work, name))
        with open(lists[-1], "w") as file:
            file.writelines(f'url = "{url}"\noutput = "{work}/raw/{name}-{number}"\n' for number, url in enumerate(urls))

    def raw():
        os.makedirs(os.path.join(work, "raw"))
        for file in lists:
            words = ["curl", "--silent", "--no-progress-meter", "--fail", "--parallel", "--parallel-max", str(CONNECTIONS), "--header", f"accept: {TYPES}", "--config", file]
            subprocess.run(words, check=True)

    def clean():
        for path in [os.path.join(home, ".cache"), os.path.join(project, ".claude"), os.path.join(project, ".brief"), os.path.join(work, "raw")]:
            shutil.rmtree(path, ignore_errors=True)

    times = {"sync": [], "raw": []}
    for _ in range(args.rounds):
        for name, step in [("raw", raw), ("sync", lambda: run("sync", "--frozen"))]:
            clean()
            start = time.perf_counter()
            step()
            times[name].append((time.perf_counter() - start) * 1000)
    made = len(os.listdir(os.path.join(project, ".claude", "skills")))
    assert made == args.items, f"{made} skills were written"
    sync, plain = (statistics.median(times[name]) for name in ["sync", "raw"])
    best = min(times["sync"]) / min(times["raw"])
    print(f"{args.items} items: sync {sync:.0f} ms, raw transfer {plain:.0f} ms, ratio {sync / plain:.2f} (best rounds {best:.2f})")


main()
