"""Text that is shown to people."""


def printable(text, longest=120):
    """Text from a file that may hold anything, as one line for a terminal."""
    shown = "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in text)
    return shown if len(shown) <= longest else shown[:longest] + "..."
