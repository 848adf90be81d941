package socket

import (
	"encoding/binary"
	"net"
	"slices"
	"time"
)

const (
	// maxFrame is the size in bytes of what a client may say at once (contract §8).
	maxFrame = 4 << 10
	// framesPerSecond is how many frames of any kind a client may send in any second.
	framesPerSecond = 50
	// maxControl is the payload of a control frame at most (RFC 6455, 5.5).
	maxControl = 125
)

// The parts of a frame's header (RFC 6455, 5.2) and the opcodes that a client may use: there is no binary frame to send.
const (
	bitFinal    = 0x80
	bitsReserve = 0x70
	opMask      = 0x0f
	bitMask     = 0x80

	// length16 and length64 stand for a length in the next two or eight bytes.
	length16 = 126
	length64 = 127

	opContinuation = 0x0
	opText         = 0x1
	opClose        = 0x8
	opPing         = 0x9
	opPong         = 0xa
)

// gate is a client's connection, watched frame by frame. A broken frame is 4400 like anything else that is not an ack, and every
// frame counts towards the limit, fragments and pongs too. Only one goroutine reads.
type gate struct {
	net.Conn
	// heard is called at every frame.
	heard func()

	// head is as much of the running frame's header as has come, without its mask.
	head [10]byte
	have int
	// skip is how many bytes of mask and payload are still to come.
	skip uint64
	// open tells that the last data frame was not its message's last.
	open bool
	// last tells that the client has closed.
	last bool
	// pace holds when the frames of the last second came.
	pace []time.Time
	// refused is what is wrong with the stream; nothing behind that is read.
	refused error
}

// Read reads as far as the stream is in order; then it returns a closure.
func (g *gate) Read(p []byte) (int, error) {
	if g.refused != nil {
		return 0, g.refused
	}
	n, err := g.Conn.Read(p)
	if fine, refused := g.scan(p[:n]); refused != nil {
		g.refused = refused
		return fine, refused
	}
	return n, err
}

// scan follows the frames through b and returns how much of it is in order.
func (g *gate) scan(b []byte) (int, error) {
	for i := 0; i < len(b); {
		if g.skip > 0 {
			n := min(g.skip, uint64(len(b)-i))
			g.skip -= n
			i += int(n)
			continue
		}
		g.head[g.have] = b[i]
		g.have++
		done, err := g.header()
		if err != nil {
			return i, err
		}
		i++
		if done {
			g.have = 0
			g.heard()
		}
	}
	return len(b), nil
}

// header judges the header as far as it has come and tells whether it is complete.
func (g *gate) header() (done bool, err error) {
	op := g.head[0] & opMask
	control, final := op&0x8 != 0, g.head[0]&bitFinal != 0
	if g.have == 1 {
		known := op == opContinuation || op == opText || op == opClose || op == opPing || op == opPong
		inOrder := control && final || !control && (op == opContinuation) == g.open
		if !known || !inOrder || g.head[0]&bitsReserve != 0 {
			return false, errProtocol
		}
		return false, nil
	}
	length, size := uint64(g.head[1]&^bitMask), 2
	if control && length > maxControl || g.head[1]&bitMask == 0 {
		return false, errProtocol
	}
	switch length {
	case length16:
		size = 4
		length = uint64(binary.BigEndian.Uint16(g.head[2:]))
	case length64:
		size = 10
		length = binary.BigEndian.Uint64(g.head[2:])
	}
	if g.have < size {
		return false, nil
	}
	if length > maxFrame {
		return false, errLarge
	}
	if !g.onTime() {
		return false, errFast
	}
	if !control {
		g.open = !final
	}
	g.last = op == opClose
	g.skip = length + 4
	return true, nil
}

// onTime counts a frame and tells whether it is within the limit.
func (g *gate) onTime() bool {
	now := time.Now()
	old := 0
	for old < len(g.pace) && now.Sub(g.pace[old]) >= time.Second {
		old++
	}
	if old == len(g.pace) {
		g.pace = nil // what a burst needed, an idle connection does not
	}
	g.pace = append(slices.Delete(g.pace, 0, min(old, len(g.pace))), now)
	return len(g.pace) <= framesPerSecond
}
