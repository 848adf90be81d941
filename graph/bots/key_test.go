package bots

import (
	"crypto/ecdh"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"math/big"
	"slices"
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
		"stray bits":       {"CQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAB=", errKeyEncoding},
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
			key, err := ParseKey(c.key)
			require.Equal(t, c.want, err)
			if c.want == nil {
				require.Equal(t, c.key, base64.StdEncoding.EncodeToString(key))
			}
		})
	}
}

// Doubling a point of the curve v² = u³ + au² + u, or of its twist, takes u to (u² − 1)² / 4u(u² + au + 1). The table holds the
// points that reach a denominator of zero within three doublings, computed here backwards: with w = u + 1/u, u doubles to d where
// w² − 4dw − 4(da + 1) = 0.
func TestLowOrderIsComplete(t *testing.T) {
	t.Parallel()
	p := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 255), big.NewInt(19))
	a, one, two, four := big.NewInt(486662), big.NewInt(1), big.NewInt(2), big.NewInt(4)
	times := func(x, y *big.Int) *big.Int { return new(big.Int).Mod(new(big.Int).Mul(x, y), p) }
	plus := func(x, y *big.Int) *big.Int { return new(big.Int).Mod(new(big.Int).Add(x, y), p) }
	minus := func(x *big.Int) *big.Int { return new(big.Int).Mod(new(big.Int).Neg(x), p) }
	// roots of x² + bx + c.
	roots := func(b, c *big.Int) []*big.Int {
		middle := times(minus(b), new(big.Int).ModInverse(two, p))
		apart := new(big.Int).ModSqrt(plus(times(middle, middle), minus(c)), p)
		if apart == nil {
			return nil
		}
		return []*big.Int{plus(middle, apart), plus(middle, minus(apart))}
	}
	require.Empty(t, roots(a, one), "the denominator is zero for u = 0 alone")
	reached := []*big.Int{new(big.Int)}
	for range 2 {
		for _, d := range slices.Clone(reached) {
			for _, w := range roots(minus(times(four, d)), minus(times(four, plus(times(d, a), one)))) {
				reached = append(reached, roots(minus(w), one)...)
			}
		}
	}
	private, err := ecdh.X25519().GenerateKey(rand.Reader)
	require.NoError(t, err)
	found := make(map[string]bool)
	for _, u := range reached {
		point := u.FillBytes(make([]byte, keySize))
		slices.Reverse(point)
		found[base64.StdEncoding.EncodeToString(point)] = true
		public, err := ecdh.X25519().NewPublicKey(point)
		require.NoError(t, err)
		_, err = private.ECDH(public)
		require.Error(t, err, "an all-zero secret")
	}
	require.Equal(t, lowOrder, found)
}

func TestFingerprint(t *testing.T) {
	t.Parallel()
	require.Equal(t, "SHA256:Zmh6rfhivXdsj8GLjp+OIAiXFIVu4jOzkCpZHQ1fKSU", Fingerprint(make([]byte, 32)))
}
