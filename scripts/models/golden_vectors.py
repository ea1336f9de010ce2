"""Writes embed/local/testdata: 200 texts of 1 to 256 tokens (reference.json) and the vectors the fp32 reference gives
them (reference.f16: 200 x 384 little-endian half floats).

Usage: python golden_vectors.py MODEL_DIR embed/local/testdata
The texts are sentences written for this purpose, mixed by a seeded generator.
"""
import json
import random
import sys

import numpy as np

from reference import MAX_TOKENS, Reference

TEXTS = 200

SENTENCES = """
The supplier shall deliver the goods within thirty days of the order date.
Either party may terminate this agreement by giving three months' written notice.
Payment is due on receipt of the invoice; interest of 4.5% per year accrues after that.
Employees who travel abroad must register their trip before departure.
Unused holidays may be carried over until 31 March of the following year.
A laptop that is lost or stolen has to be reported to the service desk at once.
The reactor is shut down automatically when the coolant rises above 350 degrees.
Replace the filter every 500 hours of operation, or sooner if the pressure drops.
Do not open the housing while the machine is connected to the mains.
Students apply online between 1 April and 15 July and pay a fee of 40 euros.
The exam consists of a written part of 120 minutes and an oral part of 20 minutes.
Plagiarism leads to the exclusion from the course and is noted in the file.
The function returns an error if the file does not exist or cannot be read.
Call Close when you are done with the handle, otherwise the lock is never released.
Version 2.3 removes the deprecated endpoint /v1/users and adds pagination.
A hash table answers look-ups in constant time on average, a tree in logarithmic time.
Photosynthesis turns carbon dioxide and water into glucose and oxygen.
The mitochondrion is the place in the cell where most of the ATP is made.
Aspirin inhibits the enzyme cyclooxygenase and thereby the synthesis of prostaglandins.
In a randomized trial of 412 patients the treatment lowered blood pressure by 8 mmHg.
The river rises in the mountains, crosses two countries and flows into the sea.
Winter was early that year, and the harbour froze before the last ship had left.
She opened the letter, read it twice, and put it into the fire without a word.
He had always believed that the old clock in the hall would outlive them all.
"Where were you last night?" asked the inspector. "At home," said the gardener, "as always."
The orchestra tuned, the lights went down, and somebody in the third row coughed.
Boil the potatoes for twenty minutes, peel them while hot, and mash them with butter.
Whisk the eggs with the sugar until the mixture is pale and has doubled in volume.
The match ended in a draw after extra time; the penalty shoot-out went to the visitors.
Shares of the company fell by eleven percent after it had cut its forecast for 2024.
The central bank left interest rates unchanged and warned of persistent inflation.
Parliament passed the bill by 312 votes to 288 after a debate of nine hours.
The museum is closed on Mondays; admission is free for children under twelve.
Trains to the airport leave every fifteen minutes from platform 4.
Light travels about 299,792 kilometres in one second.
An eclipse of the sun happens when the moon passes between the sun and the earth.
Concrete reaches most of its strength after 28 days, provided that it is kept moist.
The bridge was designed for 20,000 vehicles a day and now carries three times as many.
Passwords must have at least twelve characters and are changed when they are leaked.
Personal data are erased as soon as the purpose for which they were collected is fulfilled.
Il faut résilier le contrat trois mois avant la fin de l'année.
Die Kündigungsfrist beträgt drei Monate zum Ende eines Quartals.
El plazo de entrega es de quince días hábiles a partir del pedido.
A café in Zürich serves crème brûlée and naïve tourists.
合同自双方签字之日起生效。
Error: ECONNREFUSED 127.0.0.1:5432 (is the server running?)
SELECT name, COUNT(*) FROM orders WHERE total > 100 GROUP BY name;
func main() { fmt.Println("hello, world") }
| Item | Price | Qty | |------|-------|-----| | Bolt | 0.12 | 400 |
👍 works on my machine 🚀
""".strip().splitlines()


def texts(reference):
    """TEXTS texts whose lengths in tokens are spread from 1 to beyond the window, short ones more often."""
    rng = random.Random(2024)
    words = sorted({w for s in SENTENCES for w in s.split()})
    made = []
    while len(made) < TEXTS:
        want = int(1 + (MAX_TOKENS + 10) * (len(made) / (TEXTS - 1)) ** 1.7)
        if want <= 8:
            text = " ".join(rng.sample(words, max(1, want * 2 // 3)))
        else:
            text = rng.choice(SENTENCES)
            while len(reference.tokenizer.encode(text).ids) < min(want, MAX_TOKENS):
                text += rng.choice([" ", " ", "\n"]) + rng.choice(SENTENCES)
            if len(made) % 2:  # do not always end with a whole sentence
                text = text[: max(8, int(len(text) * rng.uniform(0.8, 1)))].strip()
        made.append(text)
    return made


def main():
    reference, folder = Reference(sys.argv[1]), sys.argv[2]
    made = texts(reference)
    vectors = np.stack([reference.vector(t) for t in made])
    with open(folder + "/reference.json", "w") as f:
        json.dump(made, f, ensure_ascii=False, indent=0)
        f.write("\n")
    vectors.astype("<f2").tofile(folder + "/reference.f16")
    lengths = sorted(len(reference.ids(t)) for t in made)
    print(f"{len(made)} texts of {lengths[0]} to {lengths[-1]} tokens, median {lengths[len(lengths) // 2]}")


if __name__ == "__main__":
    main()
