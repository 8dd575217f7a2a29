# coll: the collective calls, and which algorithm runs.
tuning_tables = src/coll/tuning/default.tune src/coll/tuning/reproducible.tune
libctcore_la_SOURCES += \
	src/coll/calls.c src/coll/coll.h src/coll/drive.c \
	src/coll/inter.c src/coll/level_config.c src/coll/level_config.h \
	src/coll/levels.c src/coll/neighbor.c \
	src/coll/pick.c \
	src/coll/select.c src/coll/select.h \
	src/coll/tables.c \
	src/coll/tuning.c src/coll/tuning.h \
	$(tuning_tables)

# The tables as the text that the library holds.
tune.h: $(tuning_tables)
	$(AM_V_GEN)for t in default reproducible; do \
	  echo "#define CT_TUNE_$$t \\" && \
	  sed -e 's/[\\"]/\\&/g' -e 's/.*/    "&\\n" \\/' $(srcdir)/src/coll/tuning/$$t.tune && echo; \
	done >$@.tmp && mv $@.tmp $@
BUILT_SOURCES += tune.h
CLEANFILES += tune.h
