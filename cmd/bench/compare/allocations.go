package compare

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// allocated is what a Go process has allocated since it began.
type allocated struct{ objects, bytes float64 }

// Names of the two figures, as the Prometheus client for Go spells them.
const (
	objectsMetric = "go_memstats_mallocs_total"
	bytesMetric   = "go_memstats_alloc_bytes_total"
)

var metricsClient = &http.Client{Timeout: 10 * time.Second}

// allocations reads what a process says of itself at address.
func allocations(ctx context.Context, address string) (allocated, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/metrics", nil)
	if err != nil {
		return allocated{}, err
	}
	response, err := metricsClient.Do(request)
	if err != nil {
		return allocated{}, err
	}
	defer response.Body.Close()
	var (
		a     allocated
		found int
	)
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), " ")
		target := map[string]*float64{objectsMetric: &a.objects, bytesMetric: &a.bytes}[name]
		if target == nil {
			continue
		}
		if *target, err = strconv.ParseFloat(value, 64); err != nil {
			return allocated{}, err
		}
		found++
	}
	if found != 2 {
		return allocated{}, fmt.Errorf("contest: %s does not tell its allocations", address)
	}
	return a, nil
}
