package bots

import (
	"crypto/ecdh"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseKey(t *testing.T) {
	t.Parallel()
	private, err := ecdh.X25519().GenerateKey(rand.Reader)
	require.NoError(t, err)
	good := base64.StdEncoding.EncodeToString(private.PublicKey().Bytes())

	point := func(s string) string {
		raw, err := hex.DecodeString(s)
		require.NoError(t, err)
		return base64.StdEncoding.EncodeToString(raw)
	}
	for name, c := range map[string]struct {
		key  string
		want error
	}{
		"good":             {good, nil},
		"base point":       {point("0900000000000000000000000000000000000000000000000000000000000000"), nil},
		"empty":            {"", errKeyEncoding},
		"unpadded":         {good[:43], errKeyEncoding},
		"line break":       {good + "\n", errKeyEncoding},
		"short":            {base64.StdEncoding.EncodeToString(make([]byte, 31)), errKeyEncoding},
		"long":             {base64.StdEncoding.EncodeToString(make([]byte, 33)), errKeyEncoding},
		"url alphabet":     {"-_" + good[2:], errKeyEncoding},
		"stray bits":       {good[:42] + nextDigit(good[42]) + "=", errKeyEncoding},
		"zero":             {point("0000000000000000000000000000000000000000000000000000000000000000"), errKeyLowOrder},
		"one":              {point("0100000000000000000000000000000000000000000000000000000000000000"), errKeyLowOrder},
		"order eight":      {point("e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800"), errKeyLowOrder},
		"order eight too":  {point("5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157"), errKeyLowOrder},
		"minus one":        {point("ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"), errKeyLowOrder},
		"the prime":        {point("edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"), errKeyCanonical},
		"prime and one":    {point("eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"), errKeyCanonical},
		"top bit set":      {point("0900000000000000000000000000000000000000000000000000000000000080"), errKeyCanonical},
		"all ones":         {point("ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"), errKeyCanonical},
		"just below prime": {point("ebffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			key, err := parseKey(c.key)
			require.Equal(t, c.want, err)
			if c.want == nil {
				require.Equal(t, c.key, base64.StdEncoding.EncodeToString(key))
			}
		})
	}
}

// nextDigit is the following character of the base64 alphabet: in the last place it changes bits that carry nothing.
func nextDigit(c byte) string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	for i := range alphabet {
		if alphabet[i] == c {
			return string(alphabet[(i+1)%len(alphabet)])
		}
	}
	return "A"
}

func TestFingerprint(t *testing.T) {
	t.Parallel()
	require.Equal(t, "SHA256:Zmh6rfhivXdsj8GLjp+OIAiXFIVu4jOzkCpZHQ1fKSU", Fingerprint(make([]byte, 32)))
}

func FuzzParseKey(f *testing.F) {
	f.Add("CQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")
	f.Add("")
	f.Fuzz(func(t *testing.T, s string) {
		key, err := parseKey(s)
		if err == nil {
			require.Len(t, s, 44)
			require.Equal(t, s, base64.StdEncoding.EncodeToString(key))
		}
	})
}
