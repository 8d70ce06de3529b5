# A CUBE 3 file as in the KOJAK paper, section 3.1: 32 processes in a grid of 2 x 4 x 4, each with two threads. Thread t of
# process p has the value (p + 1) * 10 + t in `work` and twice that in `solve`.
BEGIN {
    print "<?xml version=\"1.0\" encoding=\"UTF-8\"?>"
    print "<cube version=\"3.0\"><metrics><metric id=\"0\"><disp_name>Time</disp_name><uniq_name>time</uniq_name><dtype>INTEGER</dtype><uom>occ</uom><url></url><descr></descr></metric></metrics><program>"
    split("main work solve", name, " ")
    for (i = 0; i < 3; i++)
        printf "<region id=\"%d\" mod=\"m\" begin=\"1\" end=\"2\"><name>%s</name><url></url><descr></descr></region>\n", i, name[i + 1]
    print "<cnode id=\"0\" calleeId=\"0\"><cnode id=\"1\" calleeId=\"1\"></cnode><cnode id=\"2\" calleeId=\"2\"></cnode></cnode></program>"
    print "<system><machine Id=\"0\"><name>cluster</name>"
    for (p = 0; p < 32; p++) {
        if (p % 4 == 0) printf "<node Id=\"%d\"><name>node %d</name>\n", p / 4, p / 4
        printf "<process Id=\"%d\"><name>rank %d</name><rank>%d</rank>", p, p, p
        for (t = 0; t < 2; t++) printf "<thread Id=\"%d\"><name>thread %d</name><rank>%d</rank></thread>", 2 * p + t, t, t
        print "</process>"
        if (p % 4 == 3) print "</node>"
    }
    print "</machine><topologies><cart name=\"grid\" ndims=\"3\"><dim size=\"2\" periodic=\"false\"/><dim size=\"4\" periodic=\"true\"/><dim size=\"4\" periodic=\"true\"/>"
    for (p = 0; p < 32; p++)
        for (t = 0; t < 2; t++) printf "<coord thrdId=\"%d\">%d %d %d</coord>\n", 2 * p + t, p % 2, int(p / 2) % 4, int(p / 8)
    print "</cart></topologies></system><severity><matrix metricId=\"0\">"
    for (c = 1; c < 3; c++) {
        printf "<row cnodeId=\"%d\">", c
        for (p = 0; p < 32; p++)
            for (t = 0; t < 2; t++) print c * ((p + 1) * 10 + t)
        print "</row>"
    }
    print "</matrix></severity></cube>"
}
