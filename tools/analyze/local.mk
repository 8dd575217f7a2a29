# ctran_analyze: what holds a job up, from the traces of its ranks.
bin_PROGRAMS += tools/analyze/ctran_analyze
tools_analyze_ctran_analyze_SOURCES = tools/analyze/analyze.h tools/analyze/graph.c \
	tools/analyze/html.c tools/analyze/json.c tools/analyze/judge.c tools/analyze/load.c \
	tools/analyze/main.c tools/analyze/text.c tools/analyze/words.c tools/analyze/words.h
tools_analyze_ctran_analyze_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)
tools_analyze_ctran_analyze_LDADD = libcttrace.la libctbase.la
dist_man_MANS += man/ctran_analyze.1
