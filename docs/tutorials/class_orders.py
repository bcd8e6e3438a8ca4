# %% [markdown]
# # How much do class orders matter?
#
# EDGE trains methods on hard, easy and random class sequences of a pool, and estimates the distribution of accuracies over all
# sequences. This tutorial makes the table and the figure for a paper.

# %%
import seqsearch as ss

run = ss.edge(
    methods="simplecil,ranpac:M=100",
    pool="glyphs:classes=12,train=8,reward=4,test=8",
    tasks=3,
    random_sequences=19,
    out="runs/orders",
    workers=0,
)
run

# %% [markdown]
# The table for the paper, as LaTeX for the package booktabs. `columns` chooses columns and their order.

# %%
name, table = next(iter(run.summary.tables.items()))
print([c.key for c in table.columns])
print(run.to_latex(name, columns=[c.key for c in table.columns][:3]))

# %% [markdown]
# The figures of the page are matplotlib figures. `plot` draws one of them, into axes of yours if you pass them.

# %%
figures = run.figures()
print(sorted(figures))
figure = run.plot(sorted(figures)[0])
figure.savefig("figure.pdf")

# %% [markdown]
# How many sequences and seeds does a study need to show a difference? `seqsearch power runs/orders` answers from the variance of
# this run. What would a longer study cost?

# %%
cost = ss.cost(
    "edge",
    methods="simplecil",
    pool="glyphs:classes=12,train=8,reward=4,test=8",
    tasks=3,
    random_sequences=99,
    workers=0,
)
cost.to_json()
