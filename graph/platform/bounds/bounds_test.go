package bounds_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/platform/bounds"
)

func TestSizes(t *testing.T) {
	t.Parallel()
	for bytes, said := range map[int]string{
		0: "0", 7: "7", 999: "999", 1000: "1,000", 1_234_567: "1,234,567", 1024: "1 KiB", 16384: "16 KiB", 1536 << 10: "1536 KiB", 20 << 20: "20 MiB", 10 << 30: "10 GiB",
	} {
		require.Equal(t, said, bounds.Size(bytes))
	}
}
