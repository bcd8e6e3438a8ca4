# %% [markdown]
# # A first run and its table
#
# seqsearch builds a task sequence that is hard for the methods that you name. It compares their accuracy on this sequence with
# their accuracy on random sequences. This tutorial takes about a minute. The images are glyphs that come with the package.

# %%
import seqsearch as ss

# %% [markdown]
# A run is a folder. `workers=0` trains in this process. Leave it out, and seqsearch starts Ray with a worker for each CPU.

# %%
run = ss.cldyb(
    methods="ranpac:M=200,simplecil",
    pool="glyphs:classes=24,train=8,reward=6,test=6",
    tasks=3,
    classes_per_task=4,
    out="runs/first",
    workers=0,
)
run

# %% [markdown]
# The last line shows the summary: the headline, the key table and the notes. The headline says whether the found sequence is
# significantly harder than random ones. `run.summary.tables` has all tables.

# %%
table = run.summary.tables["methods"] if "methods" in run.summary.tables else next(iter(run.summary.tables.values()))
table.frame()

# %% [markdown]
# The accuracy matrix of a method on the found sequence: row = tasks learned, column = task evaluated.

# %%
run.matrix("simplecil").round(2)

# %% [markdown]
# Every number comes from Parquet files. [docs/schema.md](../schema.md) explains their columns.

# %%
results = run.df("results")
final = results[(results.role == "rescore") & (results.trained_step == results.trained_step.max())]
final.groupby(["method_id", "kind"]).accuracy.mean().unstack().round(3)

# %% [markdown]
# The tasks of the found sequence, with the names of their classes:

# %%
for number, task in enumerate(run.sequences()[0].tasks, 1):
    print(number, ", ".join(c.name for c in task))

# %% [markdown]
# A run that was stopped, by Ctrl-C or by a crash, goes on where it was: `ss.resume("runs/first")`. Another session opens it with
# `ss.open("runs/first")`.

# %%
ss.open("runs/first").status
