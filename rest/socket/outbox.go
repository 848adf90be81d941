package socket

import (
	"encoding/binary"
	"errors"
	"sync"
	"time"
)

// largeFrame is the size in bytes up to which a buffer for sending is kept.
const largeFrame = 64 << 10

// outgoing are buffers for one frame of the server.
var outgoing = sync.Pool{New: func() any { return new([]byte) }}

var errMute = errors.New("socket: nothing more can be sent")

// outbox sends frames, each whole before the next.
type outbox struct {
	mu sync.Mutex
	// mute: the last frame was a close frame, or could not be sent whole.
	mute bool
}

// send sends a frame to a client, which has writeTimeout to take it. The payload of a control frame has 125 bytes at most.
func (s *session) send(op byte, payload []byte) error {
	buffer := outgoing.Get().(*[]byte) //nolint:forcetypeassert // the pool holds nothing else
	frame := append(appendHeader((*buffer)[:0], op, len(payload)), payload...)
	defer func() {
		if *buffer = frame; cap(frame) <= largeFrame {
			outgoing.Put(buffer)
		}
	}()
	s.out.mu.Lock()
	defer s.out.mu.Unlock()
	if s.out.mute {
		return errMute
	}
	_ = s.gate.SetWriteDeadline(time.Now().Add(writeTimeout)) // fails only where the write will
	_, err := s.gate.Write(frame)
	s.out.mute = err != nil || op == opClose
	return err
}

// appendHeader begins a whole frame of the server, which has no mask (RFC 6455, 5.2).
func appendHeader(b []byte, op byte, length int) []byte {
	b = append(b, bitFinal|op)
	switch {
	case length < length16:
		return append(b, byte(length))
	case length < 1<<16:
		return binary.BigEndian.AppendUint16(append(b, length16), uint16(length))
	default:
		return binary.BigEndian.AppendUint64(append(b, length64), uint64(length))
	}
}
