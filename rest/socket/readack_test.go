package socket

import (
	"errors"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/platform/wire"
)

// FuzzReadAck checks that an accepted frame has the type ack, one event id and no other member.
func FuzzReadAck(f *testing.F) {
	id := "0190a5d4-7c1e-7000-8000-0123456789ab"
	for _, seed := range []string{
		`{"type":"ack","event_id":"` + id + `"}`, `{"event_id":"` + id + `","type":"ack"}`, `{"type":"ack"}`, `{}`, ``, `null`, `[]`,
		`{"type":"ack","event_id":null}`, `{"type":"ack","event_id":"` + id + `","x":1}`, `{"type":"ack","event_id":"{` + id + `}"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		event, err := readAck(b)
		if err != nil {
			require.Equal(t, errProtocol, err)
			return
		}
		var members map[string]wire.Raw
		require.NoError(t, wire.Unmarshal(b, &members))
		require.Len(t, members, 2)
		var kind string
		require.NoError(t, unquote(members["type"], &kind))
		require.Equal(t, "ack", kind)
		var spelled string
		require.NoError(t, unquote(members["event_id"], &spelled))
		require.NotEmpty(t, spelled)
		parsed, err := uuid.Parse(spelled)
		if err != nil || len(spelled) != len(id) {
			parsed = uuid.Nil
		}
		require.Equal(t, parsed, event)
	})
}

// unquote reads a JSON string.
func unquote(raw wire.Raw, into *string) error {
	var holder struct {
		S *string `json:"s"`
	}
	if err := wire.Unmarshal([]byte(`{"s":`+string(raw)+`}`), &holder); err != nil {
		return err
	}
	if holder.S == nil {
		return errors.New("not a string")
	}
	*into = *holder.S
	return nil
}
