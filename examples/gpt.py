"""Trains a small GPT on a text, character by character, and lets it write.

usage: gpt.py [steps] [file]        (the same in C++: gpt.cpp)

The text is that of this project's own documentation unless a file is given. It has some ten
thousand letters: enough to learn its words, not to make sense.
"""
import sys
from pathlib import Path

import foregrad as fg
from foregrad import nn
from foregrad.compiler import AdamW, compile_step

WIDTH, HEADS, LAYERS, CONTEXT, BATCH = 64, 4, 2, 64, 16
TEXT = Path(__file__).resolve().parent.parent / "docs" / "usage" / "nn.md"


class Block(nn.Module):
    """Every place looks back at those before it, then thinks by itself."""

    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, h):
        batch, length, _ = h.shape
        parts = self.qkv(self.norm1(h)).split(WIDTH, 2)
        q, k, v = (part.view(batch, length, HEADS, WIDTH // HEADS).transpose(1, 2)
                   for part in parts)
        mixed = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        h = h + self.out(mixed.transpose(1, 2).reshape(batch, length, WIDTH))
        return h + self.down(nn.functional.gelu(self.up(self.norm2(h))))


class Gpt(nn.Module):
    def __init__(self, letters):
        super().__init__()
        self.token, self.place = nn.Embedding(letters, WIDTH), nn.Embedding(CONTEXT, WIDTH)
        self.blocks = nn.Sequential(*(Block() for _ in range(LAYERS)))
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, letters, bias=False)

    def forward(self, letters):
        h = self.token(letters) + self.place(fg.arange(letters.size(1)))
        return self.head(self.norm(self.blocks(h)))


def batch_of(text):
    """Pieces of the text from random places, and the letter that follows each of theirs."""
    begin = fg.randint(0, text.numel() - CONTEXT, (BATCH, 1))
    places = begin + fg.arange(CONTEXT)
    return text[places], text[places + 1]


def write(net, letters, count):
    """Asks for the next letter again and again."""
    with fg.no_grad():
        for _ in range(count):
            scores = net(letters[-CONTEXT:].unsqueeze(0))[0, -1]
            next_letter = fg.multinomial((scores * 1.5).softmax(0), 1)
            letters = fg.cat([letters, next_letter])
    return letters


def main(steps, file):
    fg.manual_seed(0)
    data = Path(file).read_bytes()
    alphabet = sorted(set(data))
    text = fg.tensor([alphabet.index(byte) for byte in data])
    net = Gpt(len(alphabet))

    def loss_of(letters, following):
        return nn.functional.cross_entropy(net(letters).flatten(0, 1), following.flatten())

    step = compile_step(loss_of, net, AdamW(lr=3e-3), clip_norm=1.0)
    for i in range(steps):
        loss = step(*batch_of(text))
        if (i + 1) % max(steps // 10, 1) == 0:
            print(f"step {i + 1:4}  loss {loss.item():.4f}")

    written = write(net, text[:1], 200).tolist()
    print(bytes(alphabet[letter] for letter in written).decode(errors="replace"))
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 500,
         sys.argv[2] if len(sys.argv) > 2 else TEXT)
