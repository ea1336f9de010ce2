"""Writes embed/local/multilingual/testdata: texts in eight languages (reference.json) and the vectors the fp32 reference
gives them (reference.f16: 384 little-endian half floats each).

Usage: python golden_multilingual.py CUT_DIR embed/local/multilingual/testdata   (CUT_DIR is what cut.py wrote)
The sentences were written for this purpose. Needs: numpy, safetensors, tokenizers.
"""
import json
import os
import sys

import numpy as np

from reference import Reference

SENTENCES = """
The invoice must be paid within thirty days of delivery.
合同自双方签字之日起生效。
Le délai de résiliation est de trois mois avant la fin de l'année.
Die Kündigungsfrist beträgt drei Monate zum Ende eines Quartals.
El plazo de entrega es de quince días hábiles a partir del pedido.
O prazo de entrega é de quinze dias úteis a partir da encomenda.
契約は双方が署名した日から効力を生じる。
계약은 양 당사자가 서명한 날부터 효력이 발생한다.
Which documents do I need for a student visa?
申请学生签证需要哪些材料？
Quels documents faut-il pour un visa d'étudiant ?
Welche Unterlagen brauche ich für ein Studentenvisum?
""".strip().splitlines()


def main():
    reference, folder = Reference(sys.argv[1]), sys.argv[2]
    texts = ["query: " + s for s in SENTENCES] + ["passage: " + s for s in SENTENCES]
    texts += ["passage: " + " ".join(SENTENCES[i:] + SENTENCES[:i]) for i in range(4)]
    texts += ["query: " + t for t in ("", "cat", "emoji 👍🏽 ok", "Привет, мир", "ΑΣΦΑΛΕΣ α-synuclein", "SELECT name FROM orders WHERE total > 100;", "ＡＢＣ　１２３")]
    vectors = np.stack([reference.vector(t) for t in texts])
    os.makedirs(folder, exist_ok=True)
    with open(folder + "/reference.json", "w") as f:
        json.dump(texts, f, ensure_ascii=False, indent=0)
        f.write("\n")
    vectors.astype("<f2").tofile(folder + "/reference.f16")
    for text in (texts[0], texts[1], texts[8]):
        print(json.dumps(text, ensure_ascii=False), ", ".join(f"{x:.6f}" for x in reference.vector(text)[:12]))


if __name__ == "__main__":
    main()
