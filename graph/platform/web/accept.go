package web

import (
	"mime"
	"strconv"
	"strings"
)

// Weigh returns the weight that an Accept header gives a type, by its most specific range, and how specific that is: 3 for the type
// itself, 1 for any type at all, 0 if no range fits (RFC 9110 §12.5.1).
func Weigh(accept []string, candidate string) (weight float64, rank int) {
	family, _, _ := strings.Cut(candidate, "/")
	ranks := map[string]int{candidate: 3, family + "/*": 2, "*/*": 1}
	for sent := range strings.SplitSeq(strings.Join(accept, ","), ",") {
		media, params, err := mime.ParseMediaType(sent)
		if err != nil || ranks[media] <= rank {
			continue
		}
		weight, rank = 1, ranks[media]
		if q, sent := params["q"]; sent {
			weight, err = strconv.ParseFloat(q, 64)
			if err != nil || !(weight >= 0 && weight <= 1) {
				weight = 0
			}
		}
	}
	return weight, rank
}
