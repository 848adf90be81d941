package compare

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDifferences(t *testing.T) {
	t.Parallel()
	found, err := compareMembers("p", []byte(`{"a":1,"list":[{"x":1},{"y":2}],"n":null}`),
		[]byte(`{"a":"z","list":[{"x":3,"q":{"r":0}}],"n":{}}`))
	require.NoError(t, err)
	require.Equal(t, []string{"p +.list[].y", "p -.list[].q", "p -.list[].q.r"}, found)
	found, err = compareMembers("p", []byte(`{"a":1}`), []byte(`{"a":2}`))
	require.NoError(t, err)
	require.Empty(t, found)
	_, err = compareMembers("p", []byte(`{`), []byte(`{}`))
	require.Error(t, err)
}
