package text_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"stoa/graph/platform/text"
)

func BenchmarkUUID(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := text.UUID("0190a5d4-7c1e-7000-8000-0123456789ab"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkBase64(b *testing.B) {
	for name, size := range map[string]int{"key": 32, "1KiB": 1 << 10} {
		sent := base64.StdEncoding.EncodeToString(make([]byte, size))
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := text.Base64(sent, size, size); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkMulti(b *testing.B) {
	sent := strings.Repeat("With their springs and mouths. ", 30)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := text.Multi(sent, 1, 8000); err != nil {
			b.Fatal(err)
		}
	}
}
