package socket

import (
	"bytes"
	"encoding/binary"
	"unicode/utf8"

	"github.com/gorilla/websocket"
)

// maskSize is the size of the mask that follows a client's header.
const maskSize = 4

// inbox puts together what a client says. What goes into it has passed the gate, so its frames are in order and small. Between
// messages it holds no memory.
type inbox struct {
	// begun is what has come of a frame.
	begun []byte
	// fragments are the payloads of a message whose last frame has not come.
	fragments []byte
}

// hearer is who a client speaks to; an error ends the connection.
type hearer interface {
	hear(message []byte) error
	pong(payload []byte) error
}

// take reads on; the payloads it hands out are good during the call only.
func (x *inbox) take(b []byte, to hearer) error {
	if len(x.begun) > 0 {
		b = append(x.begun, b...)
		x.begun = nil
	}
	for {
		header, length, ok := measure(b)
		if !ok || len(b)-header < length {
			break
		}
		payload := b[header : header+length]
		for i := range payload {
			payload[i] ^= b[header-maskSize+i%maskSize]
		}
		if err := x.frame(b[0], payload, to); err != nil {
			return err
		}
		b = b[header+length:]
	}
	if len(b) > 0 {
		x.begun = bytes.Clone(b)
	}
	return nil
}

// measure returns the sizes of a frame's header, mask included, and of its payload; ok is false while the header is not complete.
func measure(b []byte) (header, length int, ok bool) {
	const short = 2
	if len(b) < short {
		return 0, 0, false
	}
	header, length = short, int(b[1]&^bitMask)
	switch {
	case length == length16 && len(b) >= short+2:
		header, length = short+2, int(binary.BigEndian.Uint16(b[short:]))
	case length == length64 && len(b) >= short+8:
		header, length = short+8, int(binary.BigEndian.Uint64(b[short:]))
	case length >= length16:
		return 0, 0, false
	}
	header += maskSize
	return header, length, len(b) >= header
}

func (x *inbox) frame(first byte, payload []byte, to hearer) error {
	switch first & opMask {
	case opPing:
		return to.pong(payload)
	case opPong:
		return nil
	case opClose:
		return closing(payload)
	}
	final := first&bitFinal != 0
	if final && len(x.fragments) == 0 {
		return to.hear(payload)
	}
	if len(x.fragments)+len(payload) > maxFrame {
		return errLarge
	}
	x.fragments = append(x.fragments, payload...)
	if !final {
		return nil
	}
	whole := x.fragments
	x.fragments = nil
	return to.hear(whole)
}

// Applications choose their close codes from codeFree to codeLast (RFC 6455, 7.4).
const (
	codeFree = 3000
	codeLast = 4999
)

// codesOfPeers are the registered codes that a client may close with.
var codesOfPeers = map[int]bool{
	websocket.CloseNormalClosure: true, websocket.CloseGoingAway: true, websocket.CloseProtocolError: true,
	websocket.CloseUnsupportedData: true, websocket.CloseInvalidFramePayloadData: true, websocket.ClosePolicyViolation: true,
	websocket.CloseMessageTooBig: true, websocket.CloseMandatoryExtension: true, websocket.CloseInternalServerErr: true,
	websocket.CloseServiceRestart: true, websocket.CloseTryAgainLater: true,
}

// closing reads the payload of a close frame.
func closing(payload []byte) error {
	const size = 2
	if len(payload) == 0 {
		return &websocket.CloseError{Code: websocket.CloseNoStatusReceived}
	}
	if len(payload) < size || !utf8.Valid(payload[size:]) {
		return errProtocol
	}
	code := int(binary.BigEndian.Uint16(payload))
	if !codesOfPeers[code] && (code < codeFree || code > codeLast) {
		return errProtocol
	}
	return &websocket.CloseError{Code: code, Text: string(payload[size:])}
}
