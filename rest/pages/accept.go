package pages

import (
	"mime"
	"strconv"
	"strings"
)

// The media types in which the addresses of the site answer.
const (
	HTML     = "text/html"
	Markdown = "text/markdown"
	JSON     = "application/json"
)

// preference is the order among types that a client likes alike.
var preference = []string{HTML, Markdown, JSON}

// Preferred is the type that the Accept header of a request asks for (RFC 9110 §12.5.1). Where several have the same weight,
// one that is named wins over one that a wildcard stands for. It is HTML where nothing, or nothing of the three, is asked for.
func Preferred(accept []string) string {
	best, bestWeight, bestRank := HTML, 0.0, 0
	for _, candidate := range preference {
		weight, rank := weigh(accept, candidate)
		if weight > bestWeight || weight == bestWeight && rank > bestRank && weight > 0 {
			best, bestWeight, bestRank = candidate, weight, rank
		}
	}
	return best
}

// weigh returns the weight that a header gives a type, by its most specific range, and how specific that is: 3 for the type
// itself, 1 for any type at all, 0 where no range fits.
func weigh(accept []string, candidate string) (weight float64, rank int) {
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
