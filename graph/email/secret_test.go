package email_test

import (
	"bytes"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/email"
)

func withKey(b byte) *email.API { return &email.API{Key: bytes.Repeat([]byte{b}, email.KeySize)} }

// Each digit is as frequent at each place as every other: chi-squared with 9 degrees of freedom is below 40 in all but one of
// 100,000 cases, and the ids are always the same.
func TestCodesAreUnbiased(t *testing.T) {
	t.Parallel()
	const n = 60_000
	a := withKey(1)
	var count [6][10]int
	seen := make(map[string]bool)
	for i := range n {
		code := a.Code(uuid.NewSHA1(uuid.Nil, []byte{byte(i), byte(i >> 8), byte(i >> 16)}))
		require.Regexp(t, `^\d{6}$`, code)
		seen[code] = true
		for place, digit := range code {
			count[place][digit-'0']++
		}
	}
	require.Greater(t, len(seen), n*95/100, "codes repeat by chance alone")
	for place := range count {
		chi := 0.0
		for _, found := range count[place] {
			off := float64(found) - n/10
			chi += off * off / (n / 10)
		}
		require.Less(t, chi, 40.0, "place %d: %v", place, count[place])
	}
}

func TestSecretsDependOnEverything(t *testing.T) {
	t.Parallel()
	one, other := withKey(1), withKey(2)
	id := uuid.Must(uuid.NewV7())
	first := one.Code(id)
	require.Equal(t, first, one.Code(id))
	tokens := []string{
		one.LinkToken("confirm", id), one.LinkToken("restore", id), one.LinkToken("confirm", uuid.New()), other.LinkToken("confirm", id),
		one.LinkToken("", id),
	}
	for i, token := range tokens {
		require.Regexp(t, `^[A-Za-z0-9_-]{43}$`, token)
		for _, different := range tokens[i+1:] {
			require.NotEqual(t, token, different)
		}
	}
	require.True(t, one.IsLinkToken("confirm", id, tokens[0]))
	for _, wrong := range append(tokens[1:], "", tokens[0][:42], tokens[0]+"A") {
		require.False(t, one.IsLinkToken("confirm", id, wrong))
	}
	require.True(t, one.IsCode(id, one.Code(id)))
	same := 0
	for range 100 {
		next := uuid.New()
		if one.Code(next) == other.Code(next) || one.Code(next) == one.Code(id) {
			same++
		}
		require.False(t, one.IsCode(next, "") || one.IsCode(next, one.Code(next)+"0"))
	}
	require.Less(t, same, 3)
}

func TestNothingIsDerivedWithoutAKey(t *testing.T) {
	t.Parallel()
	a := &email.API{Key: []byte("short")}
	require.Panics(t, func() { a.Code(uuid.New()) })
	require.Panics(t, func() { a.LinkToken("confirm", uuid.New()) })
}
