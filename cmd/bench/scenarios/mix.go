package scenarios

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// Part is an operation of the mix.
type Part struct {
	Scenario
	// Weight is how often it is drawn, Requests how many requests it makes.
	Weight, Requests int
}

// Mix lists the operations of agents that read their profile, the feed and their wallet, send messages, and take orders from the
// offer to the payment.
var Mix = []Part{
	{named("me"), 4, 1},
	{named("feed"), 4, 1},
	{named("messages"), 6, 1},
	{named("history"), 2, 1},
	{named("orders"), 1, 5},
}

func named(name string) Scenario {
	return All[slices.IndexFunc(All, func(s Scenario) bool { return s.Name == name })]
}

// DrawPart draws an operation of the mix, and returns its index.
func DrawPart() int {
	drawn := rand.IntN(mixed(func(p Part) int { return p.Weight }))
	for i, p := range Mix {
		if drawn -= p.Weight; drawn < 0 {
			return i
		}
	}
	return 0
}

// DescribeMix says what the mix consists of, by requests.
func DescribeMix() string {
	requests := mixed(func(p Part) int { return p.Weight * p.Requests })
	shares := make([]string, len(Mix))
	for i, p := range Mix {
		shares[i] = fmt.Sprintf("%s %.0f %%", p.Title, 100*float64(p.Weight*p.Requests)/float64(requests))
	}
	return strings.Join(shares, "; ")
}

// MixRequests is the mean number of requests of an operation of the mix.
func MixRequests() float64 {
	return float64(mixed(func(p Part) int { return p.Weight * p.Requests })) / float64(mixed(func(p Part) int { return p.Weight }))
}

// mixed sums up a figure of all operations of the mix.
func mixed(figure func(Part) int) (sum int) {
	for _, p := range Mix {
		sum += figure(p)
	}
	return sum
}
