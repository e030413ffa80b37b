"""Numbers for the actions that training data has, and which of them are valid in a state."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from ...arrays import BoolArray, IntArray
from ...errors import Errors
from .actions import COPIES, ROOT_FORM, Action, AmrSentence, Kind, copied_label
from .machine import MAX_FORKS, State

Candidates = Literal["word", "lemma", "vocab"]

NO_ACTION = -1
# Actions that any table has.
PLAIN = tuple(Action(kind) for kind in Kind if kind < Kind.LA)


class Replay(NamedTuple):
    """The states that T actions lead through, each before its action.

    Attributes:
        ids: The actions, shape [T]; NO_ACTION for one that the table does not have.
        valid: Whether each action of the table is valid, shape [T, A]; the one of `ids` always is.
        places: Where the n words and ROOT are, shape [T, n + 1], see `State.places`.
        depths: How deep they are there, shape [T, n + 1].
    """

    ids: IntArray
    valid: BoolArray
    places: IntArray
    depths: IntArray


class ActionTable:
    """The A actions of a model, numbered by kind and then by label.

    Args:
        actions: The actions beside the plain ones, which any table has; repeated ones count once.
        seen: The labels that PRED may give a word, by its form (candidates = "word") or lemma ("lemma").
        candidates: Which labels PRED may give a word: those seen with the word, with its lemma, or all.
        max_forks: Most FORKs for one word.

    Raises:
        ValueError: For an unknown `candidates`, or a label in `seen` that no PRED has.
    """

    def __init__(
        self,
        actions: Iterable[Action],
        seen: Mapping[str, Sequence[str]] | None = None,
        candidates: Candidates = "lemma",
        max_forks: int = MAX_FORKS,
    ) -> None:
        if candidates not in get_args(Candidates):
            raise ValueError(Errors.E142.format(candidates=candidates, expected=get_args(Candidates)))
        self.actions = sorted({*PLAIN, *actions})
        self.candidates: Candidates = candidates
        self.max_forks = max_forks
        self.seen = {key: sorted(set(labels)) for key, labels in sorted((seen or {}).items())}
        self._ids = {action: i for i, action in enumerate(self.actions)}
        unknown = {label for labels in self.seen.values() for label in labels} - set(self.labels(Kind.PRED))
        if unknown:
            raise ValueError(Errors.E143.format(labels=sorted(unknown)[:5]))
        kinds = np.array([action.kind for action in self.actions])
        # The number of each kind's plain action.
        self._plain = {action.kind: i for i, action in enumerate(self.actions) if action in PLAIN}
        self._of_kind: dict[Kind, IntArray] = {kind: np.flatnonzero(kinds == kind) for kind in Kind}

    @classmethod
    def learn(
        cls,
        oracle: Iterable[tuple[AmrSentence, Sequence[Action]]],
        *,
        shift_labels: int = 0,
        candidates: Candidates = "lemma",
        max_forks: int = MAX_FORKS,
    ) -> ActionTable:
        """The table of training data.

        Args:
            oracle: Sentences and the oracle's actions.
            shift_labels: How many of the most frequent words get a SHIFT of their own; ROOT then does, too.
            candidates: Which labels PRED may give a word.
            max_forks: Most FORKs for one word, as the oracle had it.
        """
        actions: set[Action] = set()
        words: Counter[str] = Counter()
        seen: dict[str, set[str]] = {}
        for sentence, sequence in oracle:
            words.update(sentence.forms)
            state = State(sentence, max_forks=max_forks)
            for action in sequence:
                if action.kind == Kind.PRED and state.top is not None:
                    key = _key(sentence, state.positions[state.top], candidates)
                    seen.setdefault(key, set()).add(action.label)
                state.apply(action)
            actions.update(sequence)
        if shift_labels:
            frequent = sorted(words, key=lambda word: (-words[word], word))[:shift_labels]
            actions.update(Action(Kind.SHIFT, word) for word in (*frequent, ROOT_FORM))
        by_key = {key: sorted(labels) for key, labels in seen.items()} if candidates != "vocab" else {}
        return cls(actions, by_key, candidates, max_forks)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ActionTable:
        """The table that `to_dict` gave.

        Raises:
            ValueError: If that is not what the data is.
        """
        try:
            actions = [Action(Kind[kind], label, value) for kind, label, value in data["actions"]]
            return cls(actions, data["seen"], data["candidates"], data["max_forks"])
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(Errors.E144.format(error=repr(error))) from error

    def to_dict(self) -> dict[str, Any]:
        """Everything about the table, for JSON."""
        actions = [[action.kind.name, action.label, action.value] for action in self.actions]
        settings = {"candidates": self.candidates, "max_forks": self.max_forks}
        return {"actions": actions, "seen": self.seen, **settings}

    def __len__(self) -> int:
        return len(self.actions)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ActionTable) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]

    def labels(self, kind: Kind) -> list[str]:
        """The labels of a kind's actions, in order."""
        return [action.label for action in self.actions if action.kind == kind]

    def id(self, action: Action) -> int:
        """The number of an action; NO_ACTION for one that the table does not have."""
        return self._ids.get(action, NO_ACTION)

    def shift_id(self, form: str) -> int:
        """The one SHIFT that is valid for a word."""
        return self._ids.get(Action(Kind.SHIFT, form), self._plain[Kind.SHIFT])

    def word_choices(self, sentence: AmrSentence) -> list[IntArray]:
        """For each word the actions that may label it: copies that give PENMAN, and PRED by `candidates`."""
        choices = []
        for position, (form, lemma) in enumerate(zip(sentence.forms, sentence.lemmas, strict=True)):
            copies = [self._plain[kind] for kind in COPIES if copied_label(kind, form, lemma) is not None]
            if self.candidates == "vocab":
                labels = self._of_kind[Kind.PRED]
            else:
                seen = self.seen.get(_key(sentence, position, self.candidates), [])
                labels = np.array([self._ids[Action(Kind.PRED, label)] for label in seen], dtype=np.int64)
            choices.append(np.concatenate([np.array(copies, dtype=np.int64), labels]))
        return choices

    def valid_actions(self, state: State, choices: Sequence[IntArray]) -> BoolArray:
        """Whether each action is valid, shape [A].

        Args:
            state: The state.
            choices: What `word_choices` gives for the state's sentence.

        Returns:
            All False for a final state; any other state has a valid action.
        """
        valid = np.zeros(len(self.actions), dtype=bool)
        top, second = state.top, state.second
        if state.is_final:
            return valid
        valid[self._plain[Kind.SWAP]] = state.can_swap
        if top == state.root_item:
            valid[self._plain[Kind.ROOT]] = second is not None and state.labels[second] is not None
            valid[self._plain[Kind.CLOSE]] = state.can_close
            return valid
        if (form := state.front_form) is not None:
            valid[self.shift_id(form)] = True
        if top is None:
            return valid
        valid[self._plain[Kind.REDUCE]] = True
        if state.labels[top] is None:
            valid[choices[state.positions[top]]] = True
            return valid
        valid[self._plain[Kind.FORK]] = state.can_fork
        self._set_new(valid, state, top, second)
        return valid

    def begin(self, sentence: AmrSentence) -> State:
        """The state before a sentence's first action."""
        return State(sentence, max_forks=self.max_forks)

    def replay(self, sentence: AmrSentence, actions: Sequence[Action]) -> Replay:
        """The states that actions lead through, for training.

        Args:
            sentence: The sentence.
            actions: Valid actions, such as the oracle's; a plain SHIFT stands for that of its word.

        Raises:
            ValueError: For an action that is not valid.
        """
        state = self.begin(sentence)
        choices = self.word_choices(sentence)
        n, n_steps = len(sentence) + 1, len(actions)
        shape = n_steps, n
        ids = np.empty(n_steps, dtype=np.int64)
        valid = np.empty((n_steps, len(self.actions)), dtype=bool)
        places, depths = np.empty(shape, dtype=np.int64), np.empty(shape, dtype=np.int64)
        for step, action in enumerate(actions):
            is_shift = action.kind == Kind.SHIFT
            ids[step] = self.shift_id(state.front_form or "") if is_shift else self.id(action)
            valid[step] = self.valid_actions(state, choices)
            if ids[step] != NO_ACTION:
                valid[step, ids[step]] = True
            places[step], depths[step] = state.places()
            state.apply(action)
        return Replay(ids, valid, places, depths)

    def _set_new(self, valid: BoolArray, state: State, top: int, second: int | None) -> None:
        """Set what draws an edge or a constant that is not there yet."""
        valid[self._of_kind[Kind.DEPENDENT]] = True
        for item, role, constant in state.constants:
            if item == top:
                self._unset(valid, Action(Kind.DEPENDENT, role, constant))
        if second is None or state.labels[second] is None:
            return
        valid[self._of_kind[Kind.LA]] = True
        valid[self._of_kind[Kind.RA]] = True
        for source, role, target in state.edges:
            if (source, target) == (top, second):
                self._unset(valid, Action(Kind.LA, role))
            elif (source, target) == (second, top):
                self._unset(valid, Action(Kind.RA, role))

    def _unset(self, valid: BoolArray, action: Action) -> None:
        if (found := self._ids.get(action)) is not None:
            valid[found] = False


def _key(sentence: AmrSentence, position: int, candidates: Candidates) -> str:
    """What the labels of a word are kept by."""
    return sentence.lemmas[position].lower() if candidates == "lemma" else sentence.forms[position]
