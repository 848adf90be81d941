package auth_test

import (
	"hash/crc32"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/auth"
)

func TestTokensAreWellFormedAndDiffer(t *testing.T) {
	t.Parallel()
	seen := make(map[string]bool)
	for range 1000 {
		token := auth.NewToken()
		require.Regexp(t, `^stoa_[0-9A-Za-z]{49}$`, token)
		require.True(t, auth.WellFormed(token))
		require.False(t, seen[token])
		seen[token] = true
		// The checksum is the CRC32 (IEEE) of prefix and secret as a base62 number, most significant digit first.
		var number uint64
		for _, digit := range token[48:] {
			number = number*62 + uint64(strings.IndexRune("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", digit))
		}
		require.EqualValues(t, crc32.ChecksumIEEE([]byte(token[:48])), number)
	}
}

func TestMistypedTokensAreRefusedWithoutALookUp(t *testing.T) {
	t.Parallel()
	token := auth.NewToken()
	for i := range token {
		changed := []byte(token)
		changed[i] = map[bool]byte{true: 'x', false: 'y'}[changed[i] != 'x']
		require.False(t, auth.WellFormed(string(changed)), "%d", i)
	}
	for _, s := range []string{"", "stoa_", token[:len(token)-1], token + "0", " " + token, strings.ToUpper(token)} {
		require.False(t, auth.WellFormed(s))
	}
}
