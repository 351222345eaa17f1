"""Office documents: Word, Excel, PowerPoint, OpenDocument, RTF, by their own parts."""
