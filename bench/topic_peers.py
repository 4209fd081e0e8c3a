#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Topics by gensim's LdaModel or scikit-learn's LatentDirichletAllocation, one thread.

usage: topic_peers.py gensim|sklearn TRAIN.ldac TOPICS PASSES OUT.npz
       topic_peers.py score OUT.npz TRAIN.ldac TEST.ldac

The first writes phi (topics x words) and alpha, the second prints their perplexity.
"""
import os
import sys

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[name] = "1"
import numpy as np  # noqa: E402


def read(path):
    """Documents as lists of (word, count)."""
    out = []
    with open(path) as file:
        for line in file:
            pairs = (p.split(":") for p in line.split()[1:])
            out.append([(int(w), int(n)) for w, n in pairs])
    return out


def gensim(documents, topics, passes):
    from gensim.models import LdaModel
    words = 1 + max(w for d in documents for w, _ in d)
    model = LdaModel(documents, num_topics=topics, id2word={w: str(w) for w in range(words)},
                     passes=passes, iterations=100, alpha="auto", eta="auto", eval_every=None,
                     random_state=1)
    return model.get_topics(), model.alpha


def sklearn(documents, topics, passes):
    from scipy.sparse import csr_matrix
    from sklearn.decomposition import LatentDirichletAllocation
    rows = [d for d, words in enumerate(documents) for _ in words]
    columns = [w for words in documents for w, _ in words]
    counts = [n for words in documents for _, n in words]
    model = LatentDirichletAllocation(topics, learning_method="online", max_iter=passes,
                                      random_state=1)
    model.fit(csr_matrix((counts, (rows, columns))))
    phi = model.components_ / model.components_.sum(axis=1, keepdims=True)
    return phi, np.full(topics, model.doc_topic_prior_)


def perplexity(phi, alpha, train, test):
    """Document completion, as src/eval/completion.h has it."""
    seen = {w for d in read(train) for w, _ in d}
    loss, foretold = 0.0, 0
    for document in read(test):
        words = [w for w, n in sorted(document) if w in seen for _ in range(n)]
        even, odd = words[0::2], words[1::2]
        if not odd:
            continue
        kinds, counts = np.unique(even, return_counts=True)
        rows = phi[:, kinds]
        theta = np.full(len(alpha), 1 / len(alpha))
        for _ in range(100):
            theta = alpha + theta * (rows @ (counts / np.maximum(theta @ rows, 1e-30)))
            theta /= theta.sum()
        loss -= np.log(np.maximum(theta @ phi[:, odd], 1e-30)).sum()
        foretold += len(odd)
    return float(np.exp(loss / foretold))


if __name__ == "__main__":
    if sys.argv[1] == "score":
        learned = np.load(sys.argv[2])
        print(perplexity(learned["phi"], learned["alpha"], *sys.argv[3:]))
        sys.exit()
    peer, source, k, n, target = sys.argv[1:]
    found = {"gensim": gensim, "sklearn": sklearn}[peer](read(source), int(k), int(n))
    np.savez(target, phi=found[0], alpha=found[1])
