import asyncio
import itertools
import threading

from spacy.language import Language

from .conftest import make_pipeline, make_service


def test_short_requests_overtake_long_ones_and_long_ones_are_parsed_alone():
    from spacy_g2g.serve.worker import Task

    nlp: Language = make_pipeline()
    worker = make_service(nlp).state.worker
    may_start, events = threading.Event(), list[str]()

    def task(name: str, n_words: int) -> Task:
        def make():
            if name == "first":
                may_start.wait(10)
            events.append(f"make {name}")
            return nlp.make_doc("dogs bark")

        return Task(n_words, make=make, render=lambda doc: events.append(f"render {name}"))

    async def ask() -> None:
        requests = [("first", 1), ("long", 490), ("longer", 500), ("short", 10), ("shorter", 5)]
        waiting = []
        for request in requests:
            waiting.append(asyncio.create_task(worker.ask([task(*request)])))
            await asyncio.sleep(0.02)
        may_start.set()
        await asyncio.gather(*waiting)

    asyncio.run(ask())
    worker.close()
    alone = [[f"make {name}", f"render {name}"] for name in ("first", "long", "longer")]
    together = ["make shorter", "make short", "render shorter", "render short"]
    assert events == [*alone[0], *together, *alone[1], *alone[2]]


def test_tasks_are_made_as_they_are_needed_and_by_another_thread():
    from spacy_g2g.serve.worker import SENTENCES_AT_ONCE, Task

    nlp: Language = make_pipeline()
    worker = make_service(nlp).state.worker
    made, told, ahead = itertools.count(1), list[int](), list[int]()

    def tasks():
        for number in range(3 * SENTENCES_AT_ONCE + 1):
            assert threading.current_thread() is not threading.main_thread()
            ahead.append(next(made) - len(told))
            yield Task(
                2, make=lambda: nlp.make_doc("dogs bark"), render=lambda doc, n=number: told.append(n) or n
            )

    found = asyncio.run(worker.ask_in_turn(tasks()))
    worker.close()
    assert found == list(range(3 * SENTENCES_AT_ONCE + 1))
    assert max(ahead) == SENTENCES_AT_ONCE
