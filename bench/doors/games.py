"""The two environments of the bench, as plain Python: every peer serves them in its own protocol."""

LIMIT = 6
CALLS = 20
SECRET = "crane"


class Game:
    """Wordle, with marks as ours are: G in place, Y elsewhere, X nowhere."""

    def __init__(self) -> None:
        self.guesses: list[str] = []
        self.won = False

    def say(self, message: str) -> tuple[str, bool]:
        start, end = message.find("["), message.find("]")
        word = message[start + 1 : end].lower() if 0 <= start < end else ""
        if len(word) != 5:
            return "Not a valid guess.", False
        self.guesses.append(word)
        marks = ["X"] * 5
        left = list(SECRET)
        for i, letter in enumerate(word):
            if SECRET[i] == letter:
                marks[i] = "G"
                left.remove(letter)
        for i, letter in enumerate(word):
            if marks[i] == "X" and letter in left:
                marks[i] = "Y"
                left.remove(letter)
        self.won = word == SECRET
        done = self.won or len(self.guesses) >= LIMIT
        shown = " ".join(word.upper())
        return f"{shown}\n{' '.join(marks)}\nYou have {LIMIT - len(self.guesses)} guesses left.", done

    def reward(self) -> float:
        return 1.0 if self.won else 0.0


class Counter:
    def __init__(self) -> None:
        self.count = 0

    def add(self, by: int) -> tuple[str, bool]:
        self.count += by
        return f"The counter is at {self.count}.", self.count >= CALLS

    def reward(self) -> float:
        return 1.0 if self.count >= CALLS else 0.0
