# Makes a profiling library in C from guest/mpi/calls: a wrapper of each call counts it and calls PMPI;
# MPI_Finalize prints what was called, on rank 0. wrapped() counts the calls that are wrapped.
BEGIN { print "#include <mpi.h>\n#include <stdio.h>\nenum {"; }
    /^#/ || NF == 0 { next }
    { sub(/^[-=] /, ""); match($0, /[A-Za-z0-9_]+\(/); n = substr($0, RSTART, RLENGTH - 1)
      names[++count] = n; head[n] = substr($0, 1, RSTART - 1); text[n] = substr($0, RSTART + RLENGTH); sub(/\)$/, "", text[n])
      print "N_" n "," }
    END { print "CALLS};\nstatic unsigned calls[CALLS];\nstatic const char *const names[] = {"
      for (i = 1; i <= count; i++) print "\"" names[i] "\","
      print "};"
      for (i = 1; i <= count; i++) { n = names[i]; pass = ""; k = split(text[n], a, /, */)
        for (j = 1; j <= k && text[n] != "void"; j++) { if (a[j] == "...") continue
          m = a[j]; sub(/\[.*/, "", m); sub(/.*[ *]/, "", m); pass = pass (pass == "" ? "" : ", ") m }
        print head[n] "MPI_" n "(" text[n] ")\n{\n    calls[N_" n "]++;"
        if (n == "Finalize") print "    int rank;\n    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);\n    for (int i = 0; rank == 0 && i < CALLS; i++)\n        if (calls[i]) printf(\"MPI_%s %u\\n\", names[i], calls[i]);\n    fflush(stdout);"
        print "    return PMPI_" n "(" pass ");\n}" }
      print "int wrapped(void)\n{\n    int count = 0;"
      for (i = 1; i <= count; i++) print "    count += (void (*)(void))MPI_" names[i] " != (void (*)(void))PMPI_" names[i] ";"
      print "    return count;\n}" }
