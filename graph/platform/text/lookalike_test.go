package text_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"stoa/graph/platform/text"
)

func TestADisplayNameIsNoHandle(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"@ada", "Ada @ home", "＠ada", "﹫ada", "ⓐda", "Ⓐda", "a\u20ddda"} {
		require.Error(t, text.WithoutAt(name), name)
	}
	for _, name := range []string{"Ada", "ada at home", "Адa", "A&B", "今日", "Ä", "ª"} {
		require.NoError(t, text.WithoutAt(name), name)
	}
}

func TestWhatLooksAlike(t *testing.T) {
	t.Parallel()
	member := text.Names{Handle: "maria_ill", DisplayName: "Paypal Help"}
	lineup := text.NewLineup([]*text.Names{{Handle: "other", DisplayName: "Other"}, &member, {Handle: "ada", DisplayName: "Otto"}})
	for _, alike := range []text.Names{
		{Handle: "x", DisplayName: "maria_ill"}, {Handle: "x", DisplayName: "MARIA_ILL"}, {Handle: "x", DisplayName: "rnaria_i11"},
		{Handle: "rnaria_ill", DisplayName: "x"}, {Handle: "x", DisplayName: "PayPaI HeIp"}, {Handle: "x", DisplayName: "Pаурal Help"},
		{Handle: "x", DisplayName: "Pay\u200bpal  Help"}, {Handle: "x", DisplayName: "𝔭𝒶𝓎𝕡𝕒ℓ help"}, {Handle: "paypalhelp", DisplayName: "x"},
		{Handle: "maria_il", DisplayName: "x"}, {Handle: "maria_illi", DisplayName: "x"}, {Handle: "mario_ill", DisplayName: "x"},
		{Handle: "xmaria_ill", DisplayName: "x"}, {Handle: "x", DisplayName: "Märia_ill"}, {Handle: "x", DisplayName: "Paypal Help ✓"},
		{Handle: "x", DisplayName: "Ｐaypal (Help)."}, {Handle: "x", DisplayName: "Paypa\u0301l Help"}, {Handle: "x", DisplayName: "Paypal\uFFFC Help"},
	} {
		require.Equal(t, []string{"maria_ill"}, lineup.Resembled(alike, 3), alike)
	}
	for _, different := range []text.Names{
		member, {Handle: "mara_il", DisplayName: "Paypal"}, {Handle: "adam", DisplayName: "Help"}, {Handle: "maira_ill", DisplayName: "Paypal Help 2"},
	} {
		require.Empty(t, lineup.Resembled(different, 3), different)
	}
	require.Empty(t, text.NewLineup([]*text.Names{{Handle: "ada", DisplayName: "M"}}).Resembled(text.Names{Handle: "pia", DisplayName: "M"}, 3), "one letter")
	many := text.NewLineup([]*text.Names{{Handle: "robot_1"}, {Handle: "robot_2"}, {Handle: "robot_3"}, {Handle: "robot_4"}})
	require.Equal(t, []string{"robot_1", "robot_2", "robot_4"}, many.Resembled(text.Names{Handle: "robot_3", DisplayName: "x"}, 3))
}

// Handles are near exactly if one change of one character makes them equal.
func TestNearHandles(t *testing.T) {
	t.Parallel()
	letters := rapid.StringOfN(rapid.RuneFrom([]rune("ab")), 3, 8, -1)
	rapid.Check(t, func(t *rapid.T) {
		one, other := letters.Draw(t, "one"), letters.Draw(t, "other")
		want := len(one) >= 5 && len(other) >= 5 && distance(one, other) == 1
		found := text.NewLineup([]*text.Names{{Handle: one, DisplayName: "x"}}).Resembled(text.Names{Handle: other, DisplayName: "y"}, 3)
		require.Equal(t, want, len(found) == 1, "%s %s", one, other)
	})
}

// distance is the edit distance of two texts.
func distance(a, b string) int {
	if a == "" || b == "" {
		return len(a) + len(b)
	}
	if strings.HasPrefix(a, b[:1]) {
		return distance(a[1:], b[1:])
	}
	return 1 + min(distance(a[1:], b), distance(a, b[1:]), distance(a[1:], b[1:]))
}
