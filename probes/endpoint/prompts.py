"""Prompts that no cache can know: a new random beginning every time, and a task with a long answer."""

from __future__ import annotations

import random

# Short, common words: about one token each in every tokenizer in use.
_WORD_TEXT = (
    "time year people way day man thing woman life child world school state family student group "
    "country problem hand part place case week company system program question work government number "
    "night point home water room mother area money story fact month lot right study book eye job word "
    "business issue side kind head house service friend father power hour game line end member law "
    "car city community name president team minute idea kid body information back parent face others "
    "level office door health person art war history party result change morning reason research girl "
    "guy moment air teacher force education "
)
_WORDS = _WORD_TEXT.split()
_TASK = (
    "The words above have no meaning. Count from 1 upwards in words, one number a line, up to five hundred. "
    "Do not stop early and add nothing else."
)
TASK_TOKENS = 45
"""About as many as the task and a chat template add; the server's count is used where it gives one."""


class PromptMaker:
    """Makes prompts of about a given number of tokens, all different from the first word on."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.made: set[str] = set()

    def make(self, tokens: int) -> str:
        """Return a prompt of about `tokens` tokens."""
        words = max(8, tokens - TASK_TOKENS)
        while True:
            text = " ".join(self.rng.choices(_WORDS, k=words))
            # 8 of 100 words: the chance of an equal beginning is 1 in 10^16, and it is checked all the same.
            beginning = " ".join(text.split(" ", 9)[:8])
            if beginning not in self.made:
                self.made.add(beginning)
                return f"{text}\n\n{_TASK}"
