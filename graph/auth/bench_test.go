package auth

import "testing"

// BenchmarkToken measures the cost of a token for each request before the query.
func BenchmarkToken(b *testing.B) {
	token := NewToken()
	b.Run("check", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if !WellFormed(token) {
				b.Fatal("refused")
			}
		}
	})
	b.Run("hash", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			HashToken(token)
		}
	})
	b.Run("new", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			NewToken()
		}
	})
}
