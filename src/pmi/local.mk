# pmi: joining the job.
libctcore_la_SOURCES += \
	src/pmi/job.c \
	src/pmi/news.c \
	src/pmi/pmi.h \
	src/pmi/pmix.c \
	src/pmi/single.c
