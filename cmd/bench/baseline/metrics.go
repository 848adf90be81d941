package baseline

import (
	"fmt"
	"net/http"
	"runtime"
)

// metrics tells what this process has allocated, in the text format of Prometheus and under the names of its client for Go.
func metrics(w http.ResponseWriter, _ *http.Request) {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	fmt.Fprintf(w, "go_memstats_mallocs_total %d\ngo_memstats_alloc_bytes_total %d\n", m.Mallocs, m.TotalAlloc)
}
