package text_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/platform/text"
)

// A name that people would take for the platform's is found in any spelling; a name that holds the letters by chance is not.
func TestPosing(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"Platform Support", "SUPPORT", "Stoa", "stoa-official", "StoaSupport", "The Stoa Team", "Süpport", "S u p p o r t", "s.y.s.t.e.m", "Adm1n",
		"Аdmіn", "sто\u0430", "Sup\u200bport", "ＯＦＦＩＣＩＡＬ", "0fficial", "Account support (verified)", "Administrator", "@dmin",
		"Stоa Moderation", "Stoa Operators", "Stoa Moderation Team", "Official Stoa Moderation", "Support Anna", "Admin Bob", "System message", "Stoa Trust",
		"Stoa\u3164Moderation", "StoaModeration", "Sup\u200bport\u3164Anna", "Sup\u200bport\u2800Anna", "Sup\u200bport\uffa0Anna",
	} {
		require.True(t, text.Impersonates(name), name)
	}
	for _, name := range []string{"Otto the Reckoner", "The Moderation Team", "Trust me", "Ecosystems", "Supportive Sam", "Unofficially", "Badminton", "Stoat", "", "Pia", "今日", "A B C"} {
		require.False(t, text.Impersonates(name), name)
	}
	for _, handle := range []string{"stoa_help", "official_x", "security1", "stoasupport"} {
		require.True(t, text.Names{Handle: handle, DisplayName: "Pia"}.LikePlatform(), handle)
	}
	for _, handle := range []string{"pia", "ecosystems", "secure_sam", "supporters"} {
		require.False(t, text.Names{Handle: handle, DisplayName: "Pia"}.LikePlatform(), handle)
	}
}
