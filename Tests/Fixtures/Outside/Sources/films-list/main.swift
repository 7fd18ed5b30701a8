import Films
import Switchboard

let page = try await Router<FilmApi>().request(.popular(page: 1), as: FilmPage.self)
for film in page.results { print(film.title) }
