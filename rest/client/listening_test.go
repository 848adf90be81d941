package client

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Both clients derive the same name from this key, so their listeners detect each other.
func TestNameOfAListener(t *testing.T) {
	t.Parallel()
	keys, err := ParseKeys("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=")
	require.NoError(t, err)
	require.Equal(t, "stoa-listening-fa5d87c7513417438a2de6d17f701aec019e9210c72a85a07bab9e4856608dbe", listeningName(keys))
}
