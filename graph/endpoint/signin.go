package endpoint

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"stoa/graph/endpoint/session"
	"stoa/graph/fault"
	"stoa/graph/text"
	"stoa/graph/viewer"
)

const (
	signInPath  = "/sign-in"
	signOutPath = "/sign-out"
	// cookieName is the session's.
	cookieName = "stoa_operator"
	// maxForm is the size of a sign-in in bytes.
	maxForm = 16 << 10
)

// signedIn finds the operator whose session came with the request. A session of another token, or one that has expired, is
// none; forbidden if another site made the browser send a change, which every GraphQL request may be.
func (s *server) signedIn(r *http.Request) (v viewer.Viewer, ok bool, err error) {
	sent := r.CookiesNamed(cookieName)
	if len(sent) != 1 {
		return viewer.Viewer{}, false, nil
	}
	name, ok := s.sessions.Read(sent[0].Value, time.Now())
	if !ok {
		return viewer.Viewer{}, false, nil
	}
	if !reads(r) && !sameOrigin(r) {
		return viewer.Viewer{}, false, fault.New(fault.Forbidden).Say("Another site may not act with an operator's session.")
	}
	v, err = operatorOf(r.Header, name)
	return v, err == nil, err
}

// signInForm is what the sign-in page shows and sends.
type signInForm struct {
	Name, Next, Complaint string
}

// askToken is the sign-in page by its own address.
func (s *server) askToken(w http.ResponseWriter, r *http.Request) {
	show(w, http.StatusOK, "sign-in.html", signInForm{Next: s.local(r.URL.Query().Get("next"))})
}

// signIn turns the operator's token into a session.
func (s *server) signIn(w http.ResponseWriter, r *http.Request) {
	if !sameOrigin(r) {
		s.fail(w, r, fault.New(fault.Forbidden).Say("Another site may not sign an operator in."))
		return
	}
	if err := s.guesses.check(r); err != nil {
		w.Header().Set("Retry-After", strconv.Itoa(int(guessWindow.Seconds())))
		show(w, faultOf(r.Context(), err).Status(), "sign-in.html", signInForm{Complaint: "Too many wrong tokens came from here. Wait a minute."})
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		s.fail(w, r, unreadable(err))
		return
	}
	form := signInForm{Name: r.PostForm.Get("name"), Next: s.local(r.PostForm.Get("next"))}
	name, err := text.Line(form.Name, 0, maxOperatorName)
	if err != nil {
		form.Complaint = "The name " + err.Error() + "."
		show(w, http.StatusBadRequest, "sign-in.html", form)
		return
	}
	if !s.isOperator(strings.TrimSpace(r.PostForm.Get("token"))) {
		s.guesses.wrong(w, r)
		form.Complaint = "This is not the operator's token."
		show(w, http.StatusUnauthorized, "sign-in.html", form)
		return
	}
	setCookie(w, r, s.sessions.Make(name, time.Now()), int(session.Lifetime.Seconds()))
	seeOther(w, form.Next)
}

// signOut takes the session from the browser. It needs none: who has lost it is signed out already.
func (s *server) signOut(w http.ResponseWriter, r *http.Request) {
	if !sameOrigin(r) {
		s.fail(w, r, fault.New(fault.Forbidden).Say("Another site may not sign an operator out."))
		return
	}
	setCookie(w, r, "", -1)
	seeOther(w, signInPath)
}

// setCookie is the one place that says how the session is kept: for this host only, out of reach of scripts, and sent by no
// other site. Over plain HTTP, as on the loopback interface, it cannot be Secure.
func setCookie(w http.ResponseWriter, r *http.Request, value string, maxAge int) {
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // it is Secure where it can be
		Name: cookieName, Value: value, Path: "/", MaxAge: maxAge,
		HttpOnly: true, Secure: r.TLS != nil, SameSite: http.SameSiteStrictMode,
	})
}

func seeOther(w http.ResponseWriter, path string) {
	w.Header().Set("Location", path)
	w.WriteHeader(http.StatusSeeOther)
}

// local returns where to go after the sign-in: a page of ours, or the index.
func (s *server) local(next string) string {
	parsed, err := url.Parse(next)
	if err != nil || parsed.Scheme != "" || parsed.Host != "" {
		return "/"
	}
	if _, ours := find(s.Mounts, parsed.Path); !ours {
		return "/"
	}
	return parsed.RequestURI()
}
