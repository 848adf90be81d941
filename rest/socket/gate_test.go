package socket

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"stoa/graph/wire"
)

// stream is the reading half of a connection that hands out its bytes in the given pieces.
type stream struct {
	net.Conn
	pieces [][]byte
}

func (s *stream) Read(p []byte) (int, error) {
	if len(s.pieces) == 0 {
		return 0, io.EOF
	}
	n := copy(p, s.pieces[0])
	if s.pieces[0] = s.pieces[0][n:]; len(s.pieces[0]) == 0 {
		s.pieces = s.pieces[1:]
	}
	return n, nil
}

// pass sends pieces through a gate and returns what came out, the end, and how many frames it heard.
func pass(pieces ...[]byte) (out []byte, end error, frames int) { //nolint:revive,staticcheck // in the order in which they come about
	g := gate{Conn: &stream{pieces: pieces}, heard: func() { frames++ }}
	var b bytes.Buffer
	_, end = b.ReadFrom(&g)
	return b.Bytes(), end, frames
}

// judged is what a whole stream of frames should come to, worked out frame by frame.
func judged(b []byte) (frames int, refused error) {
	open := false
	for len(b) > 0 {
		first := b[0]
		op, final := first&0xf, first&0x80 != 0
		allowed := map[byte]bool{0: open, 1: !open, 8: final, 9: final, 10: final}
		if first&0x70 != 0 || !allowed[op] {
			return frames, errProtocol
		}
		if len(b) < 2 {
			return frames, nil
		}
		length, header := uint64(b[1]&0x7f), 2
		if b[1]&0x80 == 0 || op >= 8 && length > 125 {
			return frames, errProtocol
		}
		if length >= 126 {
			header = map[uint64]int{126: 4, 127: 10}[length]
			if len(b) < header {
				return frames, nil
			}
			var long [8]byte
			copy(long[10-header:], b[2:header])
			length = binary.BigEndian.Uint64(long[:])
		}
		if length > maxFrame {
			return frames, errLarge
		}
		if frames++; frames > framesPerSecond {
			return frames - 1, errFast
		}
		if op < 8 {
			open = !final
		}
		b = b[min(uint64(len(b)), uint64(header)+4+length):]
	}
	return frames, nil
}

// FuzzGate compares the gate with the slow way, however the bytes are cut into pieces.
func FuzzGate(f *testing.F) {
	mask := []byte{1, 2, 3, 4}
	frame := func(first byte, payload []byte) []byte {
		return append(append([]byte{first, 0x80 | byte(len(payload))}, mask...), payload...)
	}
	f.Add(frame(0x81, []byte("{}")), 1)
	f.Add(append(frame(0x01, []byte("{")), frame(0x80, []byte("}"))...), 3)
	f.Add(append(append([]byte{0x81, 0xfe, 0x10, 0x00}, mask...), make([]byte, 4096)...), 7)
	f.Add([]byte{0x81, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 0}, 2)
	f.Add(bytes.Repeat(frame(0x89, nil), 60), 100)
	f.Add([]byte{0x82, 0x80}, 1)
	f.Fuzz(func(t *testing.T, b []byte, size int) {
		if size < 1 {
			size = len(b) + 1
		}
		var pieces [][]byte
		for rest := b; len(rest) > 0; {
			n := min(size, len(rest))
			pieces = append(pieces, rest[:n])
			rest = rest[n:]
		}
		out, end, frames := pass(pieces...)
		wanted, refused := judged(b)
		require.Equal(t, wanted, frames)
		require.Equal(t, refused, end)
		require.True(t, bytes.HasPrefix(b, out))
		if refused == nil {
			require.Len(t, out, len(b))
		}
	})
}

// FuzzReadAck: what is taken for an ack says so, and is one event's.
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

func TestFlightRemembersWhatWasReceived(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var f flight
		var settled []uuid.UUID
		inFlight := make(map[uuid.UUID]bool)
		order := []uuid.UUID{}
		sequence := int64(0)
		for range rapid.IntRange(0, 3*remembered).Draw(t, "steps") {
			if len(order) > 0 && (f.full() || rapid.Bool().Draw(t, "settle")) {
				i := rapid.IntRange(0, len(order)-1).Draw(t, "which")
				id := order[i]
				order = append(order[:i:i], order[i+1:]...)
				delete(inFlight, id)
				settled = append(settled, id)
				f.settle(id)
				f.settle(id) // changes nothing any more
				continue
			}
			id := uuid.New()
			sequence++
			f.send(id, sequence)
			inFlight[id] = true
			order = append(order, id)
		}
		require.Len(t, f.pending, len(order))
		for i, id := range order {
			require.Equal(t, id, f.pending[i].id)
			require.True(t, f.inFlight(id))
		}
		for i, id := range settled {
			require.False(t, f.inFlight(id))
			require.Equal(t, i >= len(settled)-remembered, f.received(id))
		}
	})
}
