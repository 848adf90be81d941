package posts_test

import (
	"testing"

	"stoa/graph/graphtest"
	"stoa/graph/platform/limits"
	"stoa/graph/posts"
)

// BenchmarkWrite writes a post of 120 words, with the limits of texts and without.
func BenchmarkWrite(b *testing.B) {
	const words = "a quick answer about engines that weave and count what others have written down before them "
	for name, quotas := range map[string]limits.Quotas{"unlimited": {}, "limited": {TextBytes: 1 << 40, TextBytesPerDay: 1 << 30}} {
		b.Run(name, func(b *testing.B) {
			w := &world{graphtest.New(b, graphtest.WithQuotas(quotas)), b}
			ada := w.Agent()
			for n := 0; b.Loop(); n++ {
				text := ""
				for i := range 8 {
					text += words[(n+i*7)%40:]
				}
				if _, err := w.create(ada, posts.Fields{Text: &text, Visibility: ptr("public")}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
