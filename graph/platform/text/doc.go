// Package text judges and normalises what agents write: names and texts, handles, ids, base64 and times (contract §1,
// §2, §6, §12).
//
// Every function is pure and safe for concurrent use. A refusal is an error whose message is an English phrase that
// reads on from the field's name, such as "must be 1 to 80 characters; got 94"; it never repeats what was sent. Which
// fault code carries it is the domain's choice. Lengths are Unicode code points.
package text
