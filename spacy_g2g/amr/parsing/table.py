"""The actions that occur in training data, with numbers, and the valid actions of a state."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from ...arrays import BoolArray, IntArray
from ...transition.parsing.arc_standard import NO_ACTION
from .actions import COPIES, ROOT_FORM, ActionKind, AmrAction, AmrSentence, copied_label
from .machine import MAX_FORKS, AmrState

Candidates = Literal["word", "lemma", "vocab"]

# Actions that every table has.
PLAIN_ACTIONS = tuple(AmrAction(kind) for kind in ActionKind if kind < ActionKind.LA)


class Replay(NamedTuple):
    """A sequence of actions, and the state before each action.

    ids: int [steps], the actions; NO_ACTION for an action that the table lacks.
    valid: uint8 [steps, actions / 8], the valid actions of each state, packed by `np.packbits`; an action in
        `ids` is always valid.
    stack, buffer: int [steps, 1 + words], see `AmrState.positions`.
    """

    ids: IntArray
    valid: npt.NDArray[np.uint8]
    stack: IntArray
    buffer: IntArray


class AmrActions:
    """The actions of a model, numbered by kind and then by label.

    actions: Actions in addition to the plain actions, which every table has. Repeated actions count once.
    seen: Labels that PRED may give a word, by the word's form (candidates = "word") or lemma ("lemma").
    candidates: The labels that PRED may give a word: those seen with the "word", those seen with its "lemma",
        or all ("vocab").
    max_forks: Maximum number of FORKs for one word.
    """

    def __init__(
        self,
        actions: Iterable[AmrAction],
        seen: Mapping[str, Collection[str]] | None = None,
        candidates: Candidates = "lemma",
        max_forks: int = MAX_FORKS,
    ) -> None:
        self.actions = sorted({*PLAIN_ACTIONS, *actions})
        self.candidates: Candidates = candidates
        self.max_forks = max_forks
        self.seen = {key: sorted(set(labels)) for key, labels in sorted((seen or {}).items())}
        self._ids = {action: i for i, action in enumerate(self.actions)}
        kinds = np.array([action.kind for action in self.actions])
        # Number of the plain action of each kind.
        self._plain = {action.kind: self._ids[action] for action in PLAIN_ACTIONS}
        self._ids_by_kind = {kind: np.flatnonzero(kinds == kind) for kind in ActionKind}
        self._seen_ids: dict[str, IntArray] = {}
        for key, labels in self.seen.items():
            ids = [self._ids[AmrAction(ActionKind.PRED, label)] for label in labels]
            self._seen_ids[key] = np.array(ids, dtype=np.int64)

    @classmethod
    def learn(
        cls,
        oracle: Iterable[tuple[AmrSentence, Sequence[AmrAction]]],
        *,
        shift_labels: int = 0,
        candidates: Candidates = "lemma",
        max_forks: int = MAX_FORKS,
    ) -> AmrActions:
        """Collect the actions of training data.

        oracle: Sentences with the oracle's actions.
        shift_labels: Number of the most frequent words that get a SHIFT action of their own. ROOT then also
            gets one. 0 for a single SHIFT.
        candidates: The labels that PRED may give a word.
        max_forks: Maximum number of FORKs for one word, as in the oracle.
        """
        actions: set[AmrAction] = set()
        words: Counter[str] = Counter()
        seen: dict[str, set[str]] = {}
        for sentence, sequence in oracle:
            words.update(sentence.forms)
            state = AmrState(sentence, max_forks=max_forks)
            for action in sequence:
                if action.kind == ActionKind.PRED and state.top is not None:
                    key = _key(sentence, state.words[state.top], candidates)
                    seen.setdefault(key, set()).add(action.label)
                state.apply(action)
            actions.update(sequence)
        if shift_labels:
            frequent = sorted(words, key=lambda word: (-words[word], word))[:shift_labels]
            actions.update(AmrAction(ActionKind.SHIFT, word) for word in (*frequent, ROOT_FORM))
        return cls(actions, seen if candidates != "vocab" else None, candidates, max_forks)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> AmrActions:
        """Restore the table that `to_dict` returned."""
        actions = [AmrAction(ActionKind[kind], label, value) for kind, label, value in data["actions"]]
        return cls(actions, data["seen"], data["candidates"], data["max_forks"])

    def to_dict(self) -> dict[str, Any]:
        """Return the whole table, for JSON."""
        actions = [[action.kind.name, action.label, action.value] for action in self.actions]
        settings = {"candidates": self.candidates, "max_forks": self.max_forks}
        return {"actions": actions, "seen": self.seen, **settings}

    def __len__(self) -> int:
        return len(self.actions)

    def id(self, action: AmrAction) -> int:
        """Return the number of an action, or NO_ACTION if the table lacks it."""
        return self._ids.get(action, NO_ACTION)

    def shift_id(self, form: str) -> int:
        """Return the number of the only SHIFT that is valid for a word."""
        return self._ids.get(AmrAction(ActionKind.SHIFT, form), self._plain[ActionKind.SHIFT])

    def word_choices(self, sentence: AmrSentence) -> list[IntArray]:
        """Return the actions that may label each word: valid copies, and PRED by `candidates`."""
        choices = []
        for position, (form, lemma) in enumerate(zip(sentence.forms, sentence.lemmas, strict=True)):
            copies = [
                self._plain[kind] for kind in COPIES if copied_label(kind, form, lemma=lemma) is not None
            ]
            labels = self._ids_by_kind[ActionKind.PRED]
            if self.candidates != "vocab":
                labels = self._seen_ids.get(_key(sentence, position, self.candidates), labels[:0])
            choices.append(np.concatenate([np.array(copies, dtype=np.int64), labels]))
        return choices

    def valid_actions(self, state: AmrState, choices: Sequence[IntArray]) -> BoolArray:
        """Return which actions are valid, bool [actions].

        A final state has none. Any other state has at least one.

        state: The state.
        choices: The `word_choices` of the state's sentence.
        """
        valid = np.zeros(len(self.actions), dtype=bool)
        top, second = state.top, state.second
        if state.is_final:
            return valid
        valid[self._plain[ActionKind.SWAP]] = state.can_swap
        if top == state.root_item:
            valid[self._plain[ActionKind.ROOT]] = second is not None and state.labels[second] is not None
            valid[self._plain[ActionKind.CLOSE]] = state.can_close
            return valid
        if (form := state.front_form) is not None:
            valid[self.shift_id(form)] = True
        if top is None:
            return valid
        valid[self._plain[ActionKind.REDUCE]] = True
        if state.labels[top] is None:
            valid[choices[state.words[top]]] = True
            return valid
        valid[self._plain[ActionKind.FORK]] = state.can_fork
        self._allow_new(valid, state, top, second)
        return valid

    def begin(self, sentence: AmrSentence) -> AmrState:
        """Return the state before a sentence's first action."""
        return AmrState(sentence, max_forks=self.max_forks)

    def replay(self, sentence: AmrSentence, actions: Sequence[AmrAction]) -> Replay:
        """Return the states that a sequence of actions leads through, for training.

        sentence: The sentence.
        actions: Valid actions, such as the oracle's. A plain SHIFT stands for the SHIFT of its word.
        """
        state = self.begin(sentence)
        choices = self.word_choices(sentence)
        n_steps = len(actions)
        ids = np.empty(n_steps, dtype=np.int64)
        valid = np.empty((n_steps, len(self.actions)), dtype=bool)
        stack, buffer = np.empty((2, n_steps, len(sentence) + 1), dtype=np.int64)
        for step, action in enumerate(actions):
            is_shift = action.kind == ActionKind.SHIFT
            ids[step] = self.shift_id(state.front_form or "") if is_shift else self.id(action)
            valid[step] = self.valid_actions(state, choices)
            if ids[step] != NO_ACTION:
                valid[step, ids[step]] = True
            stack[step], buffer[step] = state.positions()
            state.apply(action)
        return Replay(ids, np.packbits(valid, axis=1), stack, buffer)

    def _allow_new(self, valid: BoolArray, state: AmrState, top: int, second: int | None) -> None:
        """Allow the actions that add an edge or a constant that the graph still lacks."""
        kinds = [ActionKind.DEPENDENT]
        if second is not None and state.labels[second] is not None:
            kinds += [ActionKind.LA, ActionKind.RA]
        for kind in kinds:
            valid[self._ids_by_kind[kind]] = True
        existing = [
            AmrAction(ActionKind.DEPENDENT, *constant) for item, *constant in state.constants if item == top
        ]
        for source, role, target in state.edges:
            if {source, target} == {top, second}:
                existing.append(AmrAction(ActionKind.LA if source == top else ActionKind.RA, role))
        valid[[self._ids[action] for action in existing if action in self._ids]] = False


def _key(sentence: AmrSentence, position: int, candidates: Candidates) -> str:
    """Return the key of a word's labels."""
    return sentence.lemmas[position].lower() if candidates == "lemma" else sentence.forms[position]
