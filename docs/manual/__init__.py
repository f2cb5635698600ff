"""The manual: pages made from what the package says of itself (public.py finds it, inquiry.py asks it), beside those written by hand
(pages/). Built by ./run docs (build.py); its examples are run by tests/python/documentation_test.py."""
