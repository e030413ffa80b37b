"""Measure how long hostile requests keep `g2g serve` from others, and the memory that they take.

    python -m experiments.serve_attacks PIPELINE

The service runs in a process of its own, with its default limits. While one of them is answered, small
requests come one after another. Memory is the resident set of the service, from /proc.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator

from experiments.serve_load import PORT, memory, wait_until_it_answers

SIZE = 9_990_000
SMALL = b'{"text": "dogs bark"}'
START = "/parser/models/parse/start"
TYPES = '<typeSystemDescription xmlns="http://uima.apache.org/resourceSpecifier"><types>'
TYPE = "<typeDescription><name>a.T{}</name><supertypeName>{}</supertypeName><features/></typeDescription>"


def main() -> None:
    """Start the service, and print what each kind of request does to it."""
    cli = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cli.add_argument("pipeline")
    args = cli.parse_args()
    command = [sys.executable, "-m", "spacy", "g2g", "serve", args.pipeline, "--port", str(PORT), "--silent"]
    with subprocess.Popen(command) as service:
        try:
            wait_until_it_answers()
            ask("/parse", SMALL)
            for name, path, body in requests():
                attack(name, path, body, service.pid)
        finally:
            service.terminate()


def requests() -> Iterator[tuple[str, str, bytes]]:
    """Yield the name, path and body of each request."""
    yield "10 MB of numbers as words", "/parse", b'{"words": [' + b"1," * (SIZE // 2) + b"1]}"
    yield "10 MB of empty lists as words", "/parse", b'{"words": [' + b"[]," * (SIZE // 3) + b"1]}"
    many = ",".join(f'"x{i}": ""' for i in range(14_000))
    yield "14,000 unknown keys", "/parse", f"{{{many}}}".encode()
    for text in ("$" * 49_999, "$" * 1_999, " ".join(["$" * 199] * 100)):
        name = f"text of {len(text)} characters, {len(text.split())} stretches of $"
        yield name, "/parse", json.dumps({"text": text}).encode()
    with urllib.request.urlopen(f"http://127.0.0.1:{PORT}/parser/models/list") as reply:
        model = json.load(reply)["data"][0]["model_info"]
    samples = {"s": ("1\ta" + "\t_" * 8 + "\n\n") * 300_000}
    start = {"model_info": model, "to_parse_samples": samples, "parsing_settings": {}}
    yield "300,000 sentences of CoNLL-U", START, json.dumps(start).encode()
    metadata = {"layer": "a.T0", "feature": "x", "projectId": 1}
    deep = "".join(TYPE.format(i, f"a.T{i - 1}" if i else "uima.tcas.Annotation") for i in range(5_000))
    for name, types in (("5,000 types, each above the next", deep), ("10 MB of XML", TYPE * (SIZE // 120))):
        document = {
            "metadata": metadata,
            "document": {"xmi": ""},
            "typeSystem": f"{TYPES}{types}</types></typeSystemDescription>",
        }
        yield name, "/inception/predict", json.dumps(document).encode()


def attack(name: str, path: str, body: bytes, pid: int) -> None:
    """Send a request, and print its answer, the longest wait of small requests meanwhile, and the memory."""
    waits, peak, answers = [0.0], memory(pid), list[int]()
    sender = threading.Thread(target=lambda: answers.append(ask(path, body)))
    sender.start()
    while True:
        is_last = not sender.is_alive()
        start = time.perf_counter()
        ask("/parse", SMALL)
        waits.append(time.perf_counter() - start)
        peak = max(peak, memory(pid))
        if is_last:
            break
    print(f"{name}: {answers[0]}, others waited up to {max(waits):.1f} s, memory up to {peak:.2f} GiB")


def ask(path: str, body: bytes) -> int:
    """Send a request, and return the status of the answer."""
    request = urllib.request.Request(f"http://127.0.0.1:{PORT}{path}", body)
    request.add_header("Content-Type", "application/json")
    try:
        with urllib.request.urlopen(request) as reply:
            reply.read()
            return int(reply.status)
    except urllib.error.HTTPError as error:
        return error.code


if __name__ == "__main__":
    main()
