package socket

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// heard is what an inbox has handed out.
type heard struct{ messages, pings []string }

func (h *heard) hear(message []byte) error {
	h.messages = append(h.messages, string(message))
	return nil
}

func (h *heard) pong(payload []byte) error {
	h.pings = append(h.pings, string(payload))
	return nil
}

// masked is a client's frame.
func masked(first byte, payload, mask []byte) []byte {
	b := appendHeader(nil, first&opMask, len(payload))
	b[0], b[1] = first, b[1]|bitMask
	b = append(b, mask...)
	for i, c := range payload {
		b = append(b, c^mask[i%maskSize])
	}
	return b
}

// TestInboxPutsTogetherWhatWasTornApart: whatever the fragments, what comes between them, and however the bytes are cut.
func TestInboxPutsTogetherWhatWasTornApart(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var said heard
		var stream []byte
		octets := func(most int) *rapid.Generator[[]byte] { return rapid.SliceOfN(rapid.Byte(), 0, most) }
		add := func(first byte, payload []byte) {
			stream = append(stream, masked(first, payload, rapid.SliceOfN(rapid.Byte(), 4, 4).Draw(t, "mask"))...)
		}
		for range rapid.IntRange(1, 4).Draw(t, "messages") {
			var message []byte
			fragments := rapid.IntRange(1, 3).Draw(t, "fragments")
			for i := range fragments {
				if rapid.Bool().Draw(t, "ping") {
					ping := octets(maxControl).Draw(t, "payload")
					add(bitFinal|opPing, ping)
					add(bitFinal|opPong, ping)
					said.pings = append(said.pings, string(ping))
				}
				payload := octets(maxFrame/fragments).Draw(t, "part")
				message = append(message, payload...)
				first := byte(opText)
				if i > 0 {
					first = opContinuation
				}
				if i == fragments-1 {
					first |= bitFinal
				}
				add(first, payload)
			}
			said.messages = append(said.messages, string(message))
		}
		var got heard
		var x inbox
		for rest := stream; len(rest) > 0; {
			n := min(rapid.IntRange(1, 300).Draw(t, "piece"), len(rest))
			require.NoError(t, x.take(rest[:n:n], &got))
			rest = rest[n:]
		}
		require.Equal(t, said, got)
		require.Equal(t, inbox{}, x, "nothing is kept")
	})
}

func TestFragmentsMakeNoLargeMessage(t *testing.T) {
	t.Parallel()
	var x inbox
	half := bytes.Repeat([]byte("x"), maxFrame/2)
	mask := make([]byte, maskSize)
	require.NoError(t, x.take(masked(opText, half, mask), new(heard)))
	require.NoError(t, x.take(masked(opContinuation, half, mask), new(heard)))
	require.Equal(t, errLarge, x.take(masked(bitFinal|opContinuation, []byte("x"), mask), new(heard)))
}

func TestCloseFrames(t *testing.T) {
	t.Parallel()
	code := func(n uint16, text string) []byte { return append(binary.BigEndian.AppendUint16(nil, n), text...) }
	closed := func(n int, text string) error { return &websocket.CloseError{Code: n, Text: text} }
	for name, c := range map[string]struct {
		payload []byte
		want    error
	}{
		"nothing":        {nil, closed(websocket.CloseNoStatusReceived, "")},
		"half a code":    {[]byte{3}, errProtocol},
		"normal":         {code(1000, ""), closed(1000, "")},
		"with a reason":  {code(1001, "à bientôt"), closed(1001, "à bientôt")},
		"torn UTF-8":     {code(1000, "\xc3"), errProtocol},
		"an own code":    {code(4999, ""), closed(4999, "")},
		"a library's":    {code(3000, ""), closed(3000, "")},
		"beyond":         {code(5000, ""), errProtocol},
		"below":          {code(999, ""), errProtocol},
		"reserved":       {code(1004, ""), errProtocol},
		"never sent":     {code(1006, ""), errProtocol},
		"not registered": {code(2999, ""), errProtocol},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var x inbox
			require.Equal(t, c.want, x.take(masked(bitFinal|opClose, c.payload, []byte("mask")), new(heard)))
		})
	}
}
