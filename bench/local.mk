# bench: figures. Programs here print what they measured; nothing here passes or fails.
noinst_PROGRAMS += bench/resident
bench_resident_SOURCES = bench/resident.c
bench_resident_LDADD = libctran.la
bench_resident_LDFLAGS = -static
EXTRA_DIST += bench/startup.sh bench/RESULTS.md
