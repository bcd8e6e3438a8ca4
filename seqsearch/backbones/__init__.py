from seqsearch.core import no_trackers

no_trackers.install()  # before anything imports timm
