package inspection

// refusal is why a file is refused: one English sentence for its sender.
type refusal string

// Error is the sentence itself, so that a scan can return a refusal as an error.
func (r refusal) Error() string { return string(r) }

// Every reason a file is refused for.
const (
	refusedEmpty       refusal = "The file is empty."
	refusedSize        refusal = "The file is larger than 20 MiB."
	refusedUnknown     refusal = "The file is not a JPEG, PNG or PDF by its content."
	refusedPurpose     refusal = "A PDF is not allowed for this purpose: send a JPEG or PNG."
	refusedArchive     refusal = "The file is an archive as well as what it starts as."
	refusedTrailing    refusal = "Bytes follow the end of the image."
	refusedForeign     refusal = "Another format follows the end of the image."
	refusedCut         refusal = "The file ends too early."
	refusedMalformed   refusal = "The file's structure is damaged."
	refusedChecksum    refusal = "A checksum in the file does not match its data."
	refusedCoding      refusal = "The image uses a coding that is not supported."
	refusedPixels      refusal = "The image has more than 20 million pixels."
	refusedAnimated    refusal = "Animated images are not allowed."
	refusedUndecodable refusal = "The file cannot be decoded."
	refusedEncrypted   refusal = "Encrypted PDFs are not allowed."
	refusedActive      refusal = "The PDF has active content: scripts, forms that send, media, attached files, " +
		"streams kept elsewhere or actions."
	refusedLink      refusal = "The PDF links to something other than http, https and mailto."
	refusedNesting   refusal = "The PDF nests its objects too deeply."
	refusedExpansion refusal = "The PDF holds a stream that expands to more than 32 MiB."
	refusedNoPages   refusal = "The PDF has no pages."
	refusedPages     refusal = "The PDF has more than 200 pages."
	refusedBox       refusal = "A page of the PDF has no usable size."
	refusedImage     refusal = "An image inside the PDF cannot be read."
	refusedRewrite   refusal = "The PDF cannot be written again without its private parts."
	refusedLimits    refusal = "The file could not be inspected within the limits of time and memory."
)
